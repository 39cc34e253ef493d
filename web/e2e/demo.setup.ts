import { fill } from "./screenshots/demo";
import { test } from "./support/test";

test("the demo has applications in each state", async () => {
  test.setTimeout(180_000);
  await fill();
});
