#!/bin/sh
# Installs what the tests need and Python cannot bring, where it is missing: tools/need.sh postgresql
set -eu

say() { echo "need: $*"; }

give_up() { say "$1 is missing: install it, and try again" >&2; exit 1; }

# install WHAT PACKAGE...: with the package manager of Debian, which must not start anything by itself.
install() {
    what=$1; shift
    command -v apt-get >/dev/null 2>&1 || give_up "$what"
    as=""
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null || give_up "$what"
        as="sudo -n"
    fi
    say "$what is missing, installing $* with apt-get"
    quiet="-qq -o=Dpkg::Use-Pty=0"
    $as apt-get $quiet update >/dev/null 2>&1 || true
    $as env DEBIAN_FRONTEND=noninteractive apt-get $quiet install -y --no-install-recommends "$@" >/dev/null || give_up "$what"
}

have_postgresql() { command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; }

need_postgresql() {
    have_postgresql && return
    # Debian makes and starts a cluster of its own unless it is told not to; the tests start theirs.
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
        mkdir -p /etc/postgresql-common
        echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf
    fi
    install PostgreSQL postgresql
    have_postgresql || give_up PostgreSQL
}

for name in "$@"; do
    case $name in
        postgresql) need_postgresql ;;
        *) say "unknown: $name" >&2; exit 2 ;;
    esac
done
