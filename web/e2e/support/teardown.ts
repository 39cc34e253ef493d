import { own, slipway } from "./setup";

export default function teardown(): void {
  if (process.env.SLIPWAY_UP_OWN) {
    slipway("down", "--data", own);
  }
}
