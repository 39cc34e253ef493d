import { take } from "./take";
import { full } from "./world";

take("full", full);
