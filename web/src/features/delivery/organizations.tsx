import { EntityList } from "./entity-list";

export function Organizations() {
  return (
    <EntityList
      noun="organizations"
      called="organization"
      type="organization"
      about="An organization holds projects, and is where rights are given for all of them."
      goes="The organization goes, with its roles and bindings. It is refused while projects or agents belong to it. Nothing goes from any cluster."
    />
  );
}
