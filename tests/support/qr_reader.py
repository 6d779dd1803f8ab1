"""Reads a QR code that is drawn without a fault, as the standard says: to check those that the pages draw."""

# Of each version at level M: the check words of a block, and the number of blocks (ISO/IEC 18004, table 9).
BLOCKS = {
    1: (10, 1),
    2: (16, 1),
    3: (26, 1),
    4: (18, 2),
    5: (24, 2),
    6: (16, 4),
    7: (18, 4),
    8: (22, 4),
    9: (22, 5),
    10: (26, 5),
    11: (30, 5),
    12: (22, 8),
    13: (22, 9),
    14: (24, 9),
    15: (24, 10),
}
# The centres of the small squares (annex E).
CENTRES = {
    1: [],
    2: [6, 18],
    3: [6, 22],
    4: [6, 26],
    5: [6, 30],
    6: [6, 34],
    7: [6, 22, 38],
    8: [6, 24, 42],
    9: [6, 26, 46],
    10: [6, 28, 50],
    11: [6, 30, 54],
    12: [6, 32, 58],
    13: [6, 34, 62],
    14: [6, 26, 46, 66],
    15: [6, 26, 48, 70],
}
FORMATS = [0x5412, 0x5125, 0x5E7C, 0x5B4B, 0x45F9, 0x40CE, 0x4F97, 0x4AA0]  # level M with each mask (annex C)
VERSIONS = {
    7: 0x07C94,
    8: 0x085BC,
    9: 0x09A99,
    10: 0x0A4D3,
    11: 0x0BBF6,
    12: 0x0C762,
    13: 0x0D847,
    14: 0x0E60D,
    15: 0x0F928,
}
MASKS = [
    lambda i, j: (i + j) % 2 == 0,
    lambda i, j: i % 2 == 0,
    lambda i, j: j % 3 == 0,
    lambda i, j: (i + j) % 3 == 0,
    lambda i, j: (i // 2 + j // 3) % 2 == 0,
    lambda i, j: i * j % 2 + i * j % 3 == 0,
    lambda i, j: (i * j % 2 + i * j % 3) % 2 == 0,
    lambda i, j: ((i + j) % 2 + i * j % 3) % 2 == 0,
]


def read(matrix):
    """Return the text of a code, and check everything else that is drawn."""
    size = len(matrix)
    version = (size - 17) // 4
    mask = _mask(matrix)
    _check_corners(matrix)
    if version in VERSIONS:
        bits = [matrix[i // 3][size - 11 + i % 3] for i in range(18)]
        assert sum(bit << place for place, bit in enumerate(bits)) == VERSIONS[version]
    bits = [matrix[i][j] ^ MASKS[mask](i, j) for i, j in _places(size, version)]
    words = [int("".join(str(int(bit)) for bit in bits[k : k + 8]), 2) for k in range(0, len(bits) - 7, 8)]
    return _text(_data(words, version), version)


def _mask(matrix):
    size = len(matrix)
    down = [(i, 8) for i in (0, 1, 2, 3, 4, 5, 7, 8)] + [(8, 7)] + [(8, 14 - k) for k in range(9, 15)]
    across = [(8, size - 1 - k) for k in range(8)] + [(size - 15 + k, 8) for k in range(8, 15)]
    copies = [sum(matrix[i][j] << bit for bit, (i, j) in enumerate(places)) for places in (down, across)]
    assert copies[0] == copies[1]
    assert matrix[size - 8][8]
    return FORMATS.index(copies[0])


def _check_corners(matrix):
    size = len(matrix)
    for top, left in ((0, 0), (0, size - 7), (size - 7, 0)):
        for i in range(7):
            for j in range(7):
                assert matrix[top + i][left + j] == (max(abs(i - 3), abs(j - 3)) != 2)
    assert [matrix[6][j] for j in range(8, size - 8)] == [j % 2 == 0 for j in range(8, size - 8)]


def _places(size, version):
    """Yield the places of the data in their order."""
    kept = {(i, j) for i in range(9) for j in (*range(9), *range(size - 8, size))}
    kept |= {(i, j) for i in range(size - 8, size) for j in range(9)}
    kept |= {(6, k) for k in range(size)} | {(k, 6) for k in range(size)}
    last = size - 7
    for row in CENTRES[version]:
        for column in CENTRES[version]:
            if (row, column) not in ((6, 6), (6, last), (last, 6)):
                kept |= {(row + i, column + j) for i in range(-2, 3) for j in range(-2, 3)}
    if version >= 7:
        kept |= {(i, size - 9 - k) for i in range(6) for k in range(3)}
        kept |= {(size - 9 - k, i) for i in range(6) for k in range(3)}
    columns = [*range(size - 1, 6, -2), 5, 3, 1]
    for turn, right in enumerate(columns):
        for i in range(size - 1, -1, -1) if turn % 2 == 0 else range(size):
            yield from ((i, j) for j in (right, right - 1) if (i, j) not in kept)


def _data(words, version):
    """Take the blocks apart, and check each: its polynomial is zero at the powers of 2."""
    checks, blocks = BLOCKS[version]
    short, longer = divmod(len(words) - checks * blocks, blocks)
    sizes = [short] * (blocks - longer) + [short + 1] * longer
    parts, rest = [[] for _ in sizes], iter(words)
    for place in range(short + 1):
        for part, length in zip(parts, sizes, strict=True):
            if place < length:
                part.append(next(rest))
    ends = [[] for _ in sizes]
    for _ in range(checks):
        for end in ends:
            end.append(next(rest))
    for part, end in zip(parts, ends, strict=True):
        root = 1
        for _ in range(checks):
            value = 0
            for word in part + end:
                value = _times(value, root) ^ word
            assert value == 0
            root = _times(root, 2)
    return [word for part in parts for word in part]


def _times(a, b):
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = (a << 1) ^ (0x11D if a & 0x80 else 0), b >> 1
    return product


def _text(data, version):
    bits = "".join(f"{word:08b}" for word in data)
    width = 8 if version < 10 else 16
    assert bits[:4] == "0100"
    size = int(bits[4 : 4 + width], 2)
    start = 4 + width
    text = bytes(int(bits[k : k + 8], 2) for k in range(start, start + 8 * size, 8))
    padding = bits[start + 8 * size :]
    assert set(padding[:4]) <= {"0"}
    return text.decode()
