// Tested by src/dialects/karmada/templates/templates.test.ts
/** Objects that a workload names and that follow it to its clusters with `propagateDeps`. */
import { interpretDependencies } from '../interpret/dependencies.ts'
import type { Template } from './template-kinds.ts'

/** Kinds of objects that follow a workload. */
const FOLLOWING: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'ServiceAccount', 'PersistentVolumeClaim'])

/** An object of the namespace of the workload. */
interface Dependency {
  readonly kind: string
  readonly name: string
}

/** The dependencies of a template; none for an object whose dependencies cannot be told. */
export function dependenciesOf(template: Template): readonly Dependency[] {
  try {
    return (interpretDependencies(template) ?? []).flatMap(({ kind, name }) =>
      name !== undefined && FOLLOWING.has(kind) ? [{ kind, name }] : [],
    )
  } catch {
    // An Ingress with an entry of TLS without a Secret: Karmada lets nothing follow it.
    return []
  }
}
