/** fldp/oblivious: answers through a relay, so that nobody sees both who sends and what. */
export { through } from "./oblivious/relay.js";
