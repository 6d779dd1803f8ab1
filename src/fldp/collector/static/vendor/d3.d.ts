export { axisBottom, axisLeft } from "d3-axis";
export { format } from "d3-format";
export { scaleBand, scaleLinear, scaleLog } from "d3-scale";
export { select } from "d3-selection";
export { line } from "d3-shape";
