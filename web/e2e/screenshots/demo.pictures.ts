import { take } from "./take";
import { demo } from "./world";

take("demo", demo);
