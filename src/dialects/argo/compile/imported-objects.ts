/** The objects of an import: equal objects are shared, and different objects never have the same name. */
import { compact } from '../../../core/compact.ts'
import { canonicalJson } from '../../../core/json.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'

/** The objects of an import. */
export interface ImportedObjects {
  /** The wanted name, with a number when another object has it. */
  nameFor(kind: Kind, wanted: string): string
  /**
   * Adds an object and returns its name: the name of an equal object, or the wanted name, with a number when it is
   * taken.
   */
  add(
    kind: Kind,
    wanted: string,
    content: { readonly spec: unknown; readonly labels?: Readonly<Record<string, string>> },
  ): string
  all(): readonly UnknownObject[]
}

/** An empty list of objects for a namespace. */
export function createImportedObjects(namespace: string): ImportedObjects {
  const objects = new Map<string, UnknownObject>()
  const names = new Map<string, string>()
  const nameFor: ImportedObjects['nameFor'] = ({ kind }, wanted) => {
    let name = wanted
    for (let count = 2; objects.has(`${kind}/${name}`); count++) name = `${wanted}-${count}`
    return name
  }
  return {
    nameFor,
    add: (kind, wanted, { spec, labels = {} }) => {
      const content = canonicalJson([kind.kind, spec, labels])
      // Each Application has its own Bundle, also when two Bundles are equal.
      const known = kind.kind === 'Bundle' ? undefined : names.get(content)
      if (known !== undefined) return known
      const name = nameFor(kind, wanted)
      names.set(content, name)
      objects.set(`${kind.kind}/${name}`, {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        metadata: compact({ name, namespace, labels: Object.keys(labels).length === 0 ? undefined : { ...labels } }),
        spec,
      })
      return name
    },
    all: () => [...objects.values()],
  }
}
