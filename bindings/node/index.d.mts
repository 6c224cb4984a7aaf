export * from "./index.js";
import * as mishap from "./index.js";
export default mishap;
