import { take } from "./take";
import { empty } from "./world";

take("empty", empty);
