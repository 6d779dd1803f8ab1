#!/bin/sh
# Installs what the tests need and Python cannot bring, where it is missing: tools/need.sh postgresql
set -eu

say() { echo "need: $*"; }

give_up() { say "$1 is missing: install it, and try again" >&2; exit 1; }

# Do something as root, without asking for a password.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Say what is missing, once, and see that it can be installed.
begin() {
    command -v apt-get >/dev/null 2>&1 && as_root true 2>/dev/null || give_up "$1"
    say "$1 is missing, installing it with apt-get"
    test -n "${updated:-}" || as_root apt-get -qq update >/dev/null 2>&1 || true
    updated=yes
}

# Install packages; what apt-get has to say is of interest only if it fails.
install() {
    said=$(as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o=Dpkg::Use-Pty=0 install -y --no-install-recommends "$@" 2>&1) ||
        { echo "$said" >&2; return 1; }
}

# Take one program out of a package: to install the package would start a service.
take_out() {
    folder=$(mktemp -d) && said=$(cd "$folder" && apt-get -qq download "$2" 2>&1) ||
        { echo "$said" >&2; rm -rf "$folder"; return 1; }
    dpkg-deb --fsys-tarfile "$folder"/*.deb | tar -x -C "$folder" "./usr/bin/$1" &&
        as_root cp "$folder/usr/bin/$1" /usr/local/bin/ && rm -rf "$folder"
}

have_postgresql() { command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; }

need_postgresql() {
    have_postgresql && return
    begin PostgreSQL
    # Debian makes and starts a cluster of its own unless it is told not to; the tests start theirs.
    install postgresql-common &&
        as_root sed -ri 's/#?(create_main_cluster) .*$/\1 = false/' /etc/postgresql-common/createcluster.conf &&
        install postgresql || give_up PostgreSQL
    have_postgresql || give_up PostgreSQL
}

need_chromium() {
    command -v chromium >/dev/null 2>&1 && return
    begin Chromium
    install chromium || give_up Chromium
}

have_nginx() { PATH="$PATH:/usr/sbin" command -v nginx >/dev/null 2>&1; }

need_nginx() {
    have_nginx && return
    begin nginx
    install nginx-light && have_nginx || give_up nginx
}

have_node() { command -v npm >/dev/null 2>&1 && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null; }

need_node() {
    have_node && return
    begin "Node.js 20"
    install nodejs npm && have_node || give_up "Node.js 20"
}

have_java() { java -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9])'; }

need_java() {
    have_java && return
    begin "Java 17"
    # Debian 12 and Ubuntu have version 17 by name, and later ones a newer default.
    install openjdk-17-jre-headless || install default-jre-headless || give_up "Java 17"
    have_java || give_up "Java 17"
}

need_promtool() {
    command -v promtool >/dev/null 2>&1 && return
    begin promtool
    take_out promtool prometheus && promtool --version >/dev/null 2>&1 || give_up promtool
}

need_caddy() {
    command -v caddy >/dev/null 2>&1 && return
    begin Caddy
    take_out caddy caddy && caddy version >/dev/null 2>&1 || give_up Caddy
}

need_systemd() {
    command -v systemd-analyze >/dev/null 2>&1 && return
    begin systemd-analyze
    install systemd || give_up systemd-analyze
}

need_wrk() {
    command -v wrk >/dev/null 2>&1 && return
    begin wrk
    install wrk || give_up wrk
}

for name in "$@"; do
    case $name in
        caddy) need_caddy ;;
        chromium) need_chromium ;;
        java) need_java ;;
        nginx) need_nginx ;;
        node) need_node ;;
        postgresql) need_postgresql ;;
        promtool) need_promtool ;;
        systemd) need_systemd ;;
        wrk) need_wrk ;;
        *) say "unknown: $name" >&2; exit 2 ;;
    esac
done
