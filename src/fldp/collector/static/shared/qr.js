// QR codes (ISO/IEC 18004): bytes at error correction level M, in versions 1 to 15, which hold 412 bytes.

/** @typedef {boolean[][]} Matrix */

// Of each version: the check words of a block, and the number of blocks.
const CHECKS = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10];
const LEVEL = 0; // the two bits that name level M
const FIELD = 0x11d; // the polynomial of the field of 256 elements
const FORMAT = { polynomial: 0x537, bits: 10, mask: 0x5412 };
const VERSION = { polynomial: 0x1f25, bits: 12 };
const PADDING = [0xec, 0x11];

const CORNER = [true, true, false, true, false]; // rings, from the middle
const SMALL = [true, false, true];

/** @type {readonly ((row: number, column: number) => number)[]} */
const MASKS = [
  (row, column) => (row + column) % 2,
  (row) => row % 2,
  (_, column) => column % 3,
  (row, column) => (row + column) % 3,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2,
  (row, column) => ((row * column) % 2) + ((row * column) % 3),
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2,
];

/** @param {number} version */
const sizeOf = (version) => 4 * version + 17;

/**
 * Return where the centres of the small squares stand, in both directions.
 *
 * @param {number} version
 */
function centres(version) {
  if (version === 1) return [];
  const last = sizeOf(version) - 7;
  const gaps = Math.floor(version / 7) + 1;
  const step = 2 * Math.ceil((last - 6) / (2 * gaps));
  return [6, ...Array.from({ length: gaps }, (_, place) => last - step * (gaps - 1 - place))];
}

/**
 * Return how many words a version has, for data and checks.
 *
 * @param {number} version
 */
function wordsOf(version) {
  const [size, marks] = [sizeOf(version), centres(version).length];
  const squares = marks ? 25 * (marks * marks - 3) - 10 * (marks - 2) : 0; // those on a timing line share 5 with it
  const modules = size * size - 3 * 64 - 2 * (size - 16) - 31 - squares - (version > 6 ? 36 : 0);
  return Math.floor(modules / 8);
}

/** @param {number} version */
const dataWords = (version) => wordsOf(version) - CHECKS[version - 1] * BLOCKS[version - 1];

/** @param {number} version */
const lengthBits = (version) => (version < 10 ? 8 : 16);

/**
 * Return the smallest version that holds this number of bytes; null if none does.
 *
 * @param {number} bytes
 */
function versionFor(bytes) {
  const place = CHECKS.findIndex((_, before) => {
    const version = before + 1;
    return 4 + lengthBits(version) + 8 * bytes <= 8 * dataWords(version);
  });
  return place < 0 ? null : place + 1;
}

/**
 * Return the data words: the mode, the length, the bytes, and padding.
 *
 * @param {Uint8Array} bytes
 * @param {number} version
 */
function dataOf(bytes, version) {
  const width = lengthBits(version);
  const binary = (/** @type {number} */ number, /** @type {number} */ bits) => number.toString(2).padStart(bits, "0");
  const text = binary(4, 4) + binary(bytes.length, width) + Array.from(bytes, (byte) => binary(byte, 8)).join("");
  const total = dataWords(version);
  const ended = text.padEnd(Math.min(text.length + 4, 8 * total), "0");
  const whole = ended.padEnd(8 * Math.ceil(ended.length / 8), "0");
  const words = (whole.match(/.{8}/g) ?? []).map((word) => Number.parseInt(word, 2));
  return Array.from({ length: total }, (_, place) => words[place] ?? PADDING[(place - words.length) % 2]);
}

/**
 * Multiply in the field.
 *
 * @param {number} a
 * @param {number} b
 */
function times(a, b) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ (product >> 7 ? FIELD : 0) ^ ((b >> bit) & 1 ? a : 0);
  }
  return product;
}

/**
 * Return the check words of a block: the remainder by the product of all (x - 2^i).
 *
 * @param {readonly number[]} block
 * @param {number} checks
 */
function checksOf(block, checks) {
  let divisor = [1];
  for (let power = 0, root = 1; power < checks; power += 1, root = times(root, 2)) {
    const shifted = [...divisor, 0];
    divisor = shifted.map((factor, place) => factor ^ (place ? times(divisor[place - 1], root) : 0));
  }
  const rest = [...block, ...Array(checks).fill(0)];
  for (let place = 0; place < block.length; place += 1) {
    const factor = rest[place];
    divisor.forEach((part, offset) => {
      rest[place + offset] ^= times(part, factor);
    });
  }
  return rest.slice(block.length);
}

/**
 * Return all words in the order in which they are drawn: one of each block in turn, first data, then checks.
 *
 * @param {readonly number[]} data
 * @param {number} version
 */
function interleaved(data, version) {
  const blocks = BLOCKS[version - 1];
  const short = Math.floor(data.length / blocks);
  const firstLong = blocks - (data.length % blocks);
  const parts = Array.from({ length: blocks }, (_, block) => {
    const start = block * short + Math.max(0, block - firstLong);
    return data.slice(start, start + short + Number(block >= firstLong));
  });
  const checks = parts.map((part) => checksOf(part, CHECKS[version - 1]));
  const inTurn = (/** @type {number[][]} */ lists) =>
    Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, place) =>
      lists.map((list) => list[place]).filter((word) => word !== undefined),
    ).flat();
  return [...inTurn(parts), ...inTurn(checks)];
}

/**
 * Append the check bits of a format or a version.
 *
 * @param {number} value
 * @param {{ polynomial: number, bits: number }} code
 */
function checked(value, { polynomial, bits }) {
  let rest = value << bits;
  for (let bit = 31 - Math.clz32(rest || 1); bit >= bits; bit -= 1)
    if ((rest >> bit) & 1) rest ^= polynomial << (bit - bits);
  return (value << bits) | rest;
}

/**
 * Draw what does not depend on the data: null is free.
 *
 * @param {number} version
 * @returns {(boolean | null)[][]}
 */
function frameOf(version) {
  const size = sizeOf(version);
  /** @type {(boolean | null)[][]} */
  const matrix = Array.from({ length: size }, () => Array(size).fill(null));
  const square = (/** @type {number} */ row, /** @type {number} */ column, /** @type {readonly boolean[]} */ rings) => {
    const reach = rings.length - 1;
    for (let down = Math.max(-reach, -row); down <= Math.min(reach, size - 1 - row); down += 1) {
      for (let right = Math.max(-reach, -column); right <= Math.min(reach, size - 1 - column); right += 1) {
        matrix[row + down][column + right] = rings[Math.max(Math.abs(down), Math.abs(right))];
      }
    }
  };
  const marks = centres(version);
  const last = size - 7;
  const taken = ["6 6", `6 ${last}`, `${last} 6`]; // by the corners
  for (const row of marks) {
    for (const column of marks) if (!taken.includes(`${row} ${column}`)) square(row, column, SMALL);
  }
  for (let place = 0; place < size; place += 1) {
    matrix[6][place] = place % 2 === 0;
    matrix[place][6] = place % 2 === 0;
  }
  square(3, 3, CORNER);
  square(3, size - 4, CORNER);
  square(size - 4, 3, CORNER);
  return matrix;
}

/**
 * Draw the format: which mask, and level M.
 *
 * @param {(boolean | null)[][]} matrix
 * @param {number} mask
 */
function drawFormat(matrix, mask) {
  const size = matrix.length;
  const bits = checked((LEVEL << 3) | mask, FORMAT) ^ FORMAT.mask;
  for (let bit = 0; bit < 15; bit += 1) {
    const isDark = ((bits >> bit) & 1) === 1;
    const along = bit < 6 ? bit : bit < 8 ? bit + 1 : size - 15 + bit;
    matrix[along][8] = isDark; // upwards on the left, and on at the lower left
    const across = bit < 8 ? size - 1 - bit : bit === 8 ? 7 : 14 - bit;
    matrix[8][across] = isDark;
  }
  matrix[size - 8][8] = true;
}

/**
 * Draw the version, where it is 7 or more.
 *
 * @param {(boolean | null)[][]} matrix
 * @param {number} version
 */
function drawVersion(matrix, version) {
  if (version < 7) return;
  const bits = checked(version, VERSION);
  for (let bit = 0; bit < 18; bit += 1) {
    const [near, far] = [Math.floor(bit / 3), matrix.length - 11 + (bit % 3)];
    matrix[near][far] = ((bits >> bit) & 1) === 1;
    matrix[far][near] = ((bits >> bit) & 1) === 1;
  }
}

/**
 * Return the free places in the order of the data: columns in pairs from the right, upwards and downwards in turn.
 *
 * @param {(boolean | null)[][]} frame
 */
function freePlaces(frame) {
  const size = frame.length;
  /** @type {[number, number][]} */
  const places = [];
  let isUp = true;
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    for (let step = 0; step < size; step += 1) {
      const row = isUp ? size - 1 - step : step;
      for (const column of [right, right - 1]) if (frame[row][column] === null) places.push([row, column]);
    }
    isUp = !isUp;
  }
  return places;
}

/**
 * Draw everything with one mask.
 *
 * @param {number} version
 * @param {readonly number[]} words
 * @param {number} mask
 * @returns {Matrix}
 */
function drawn(version, words, mask) {
  const matrix = frameOf(version);
  drawFormat(matrix, mask);
  drawVersion(matrix, version);
  freePlaces(matrix).forEach(([row, column], place) => {
    const bit = (words[place >> 3] >> (7 - (place & 7))) & 1; // what is left over at the end is light
    matrix[row][column] = (bit === 1) !== (MASKS[mask](row, column) === 0);
  });
  return /** @type {Matrix} */ (matrix);
}

const LOOKALIKE = /(?=10111010000|00001011101)/g; // what could be taken for a corner

/**
 * Return how hard a code is to read, by the rules of the standard.
 *
 * @param {Matrix} matrix
 */
function penalty(matrix) {
  const size = matrix.length;
  const text = (/** @type {readonly boolean[]} */ line) => line.map(Number).join("");
  const lines = [...matrix, ...matrix.map((_, column) => matrix.map((row) => row[column]))].map(text);
  const runs = lines.flatMap((line) => line.match(/0{5,}|1{5,}/g) ?? []).reduce((sum, run) => sum + run.length - 2, 0);
  const lookalikes = lines.reduce((sum, line) => sum + 40 * [...line.matchAll(LOOKALIKE)].length, 0);
  let squares = 0;
  for (let row = 1; row < size; row += 1) {
    for (let column = 1; column < size; column += 1) {
      const [here, above] = [matrix[row], matrix[row - 1]];
      const dark = Number(here[column]) + Number(here[column - 1]) + Number(above[column]) + Number(above[column - 1]);
      if (dark % 4 === 0) squares += 3;
    }
  }
  const share = matrix.flat().filter(Boolean).length / size ** 2;
  return runs + squares + lookalikes + 10 * Math.floor(Math.abs(share - 0.5) * 20);
}

/**
 * Return the QR code of a text, row by row, true where it is dark; null if the text is too long.
 *
 * @param {string} text
 * @returns {Matrix | null}
 */
export function qrCode(text) {
  const bytes = new TextEncoder().encode(text);
  const version = versionFor(bytes.length);
  if (version === null) return null;
  const words = interleaved(dataOf(bytes, version), version);
  const codes = MASKS.map((_, mask) => drawn(version, words, mask));
  const penalties = codes.map(penalty);
  return codes[penalties.indexOf(Math.min(...penalties))];
}
