/** The order in which Flux reconciles objects with `dependsOn`. */

/** An object and the objects it depends on, each as `namespace/name`. */
export interface Dependent {
  readonly id: string
  readonly dependsOn: readonly string[]
}

/** The order, or the circle that makes one impossible. */
export type DependencyOrder = { readonly order: readonly string[] } | { readonly circle: readonly string[] }

/**
 * Dependencies come first, and otherwise the given order stays. A dependency that is not among the objects has its
 * place in the order, too.
 */
export function dependencyOrder(objects: readonly Dependent[]): DependencyOrder {
  const dependencies = new Map(objects.map(({ id, dependsOn }) => [id, dependsOn]))
  const done = new Set<string>()
  for (const { id: root } of objects) {
    // The path from the root, with the number of dependencies of each object that are done.
    const path = [{ id: root, next: 0 }]
    const onPath = new Set([root])
    while (!done.has(root)) {
      const top = path.at(-1)!
      const next = dependencies.get(top.id)?.[top.next]
      if (next === undefined) {
        done.add(top.id)
        onPath.delete(top.id)
        path.pop()
        continue
      }
      top.next += 1
      if (onPath.has(next)) return { circle: [...path.map(({ id }) => id), next] }
      if (done.has(next)) continue
      path.push({ id: next, next: 0 })
      onPath.add(next)
    }
  }
  return { order: [...done] }
}

/** The reference of a `dependsOn` entry, in the namespace of its object unless it names one. */
export function dependencyId(entry: { readonly namespace?: string; readonly name: string }, namespace: string): string {
  const home = entry.namespace || namespace
  return home === '' ? entry.name : `${home}/${entry.name}`
}
