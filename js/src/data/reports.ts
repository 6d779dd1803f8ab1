/** Values and reports, as numbers. */

/** A value: its number, or the fingerprint of a string, which is wider than 53 bits. */
export type Value = number | bigint;

/** A report as the numbers that it consists of; those wider than 53 bits are bigints. */
export type Report = readonly (number | bigint)[];
