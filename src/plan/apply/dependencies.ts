/** Whether a bundle may begin, as far as the bundles it depends on are concerned. */
import type { BundleStateName } from '../../kinds/fields/states.ts'

/** A bundle another needs. */
export interface Dependency {
  /** A name in the same namespace, or `namespace/name`. */
  readonly bundle: string
  readonly states?: readonly BundleStateName[]
  readonly generation?: number
}

/** What is known of a bundle on the cluster. */
export interface DependencyFacts {
  readonly dependsOn: readonly Dependency[]
  /** What its document asks for. */
  readonly generation: number
  readonly state: BundleStateName
  /** What its state is about; undefined while nothing of it is applied. */
  readonly applied: number | undefined
}

/** Whether a bundle may begin. */
export type DependencyDecision =
  | { readonly kind: 'Met' }
  | { readonly kind: 'Waits'; readonly message: string }
  | { readonly kind: 'Cycle'; readonly message: string }

/** Decides whether a bundle's dependencies let it begin; `bundles` are all of the cluster. */
export function decideDependencies(bundle: string, bundles: ReadonlyMap<string, DependencyFacts>): DependencyDecision {
  const cycle = cycleThrough(bundle, bundles)
  if (cycle) {
    return { kind: 'Cycle', message: `dependsOn has a cycle: ${cycle.join(' → ')}; remove one of these dependencies` }
  }
  for (const dependency of bundles.get(bundle)?.dependsOn ?? []) {
    const message = whyNotMet(bundle, dependency, bundles)
    if (message !== undefined) return { kind: 'Waits', message }
  }
  return { kind: 'Met' }
}

function whyNotMet(
  bundle: string,
  dependency: Dependency,
  bundles: ReadonlyMap<string, DependencyFacts>,
): string | undefined {
  const name = fullName(bundle, dependency.bundle)
  const facts = bundles.get(name)
  if (!facts) return `waits for bundle ${name}, which is not on this cluster`
  const least = dependency.generation ?? facts.generation
  if (facts.applied === undefined || facts.applied < Math.max(least, facts.generation)) {
    const has = facts.applied === undefined ? 'nothing yet' : `generation ${facts.applied}`
    return `waits for bundle ${name}: it has ${has}, wanted is generation ${Math.max(least, facts.generation)}`
  }
  const states = dependency.states && dependency.states.length > 0 ? dependency.states : (['Ready'] as const)
  const accepted: readonly BundleStateName[] = states
  return accepted.includes(facts.state)
    ? undefined
    : `waits for bundle ${name}: it is ${facts.state}, wanted is ${accepted.join(' or ')}`
}

/** The bundle a dependency of another names. */
export function fullName(bundle: string, dependency: string): string {
  return dependency.includes('/') ? dependency : `${bundle.slice(0, bundle.indexOf('/'))}/${dependency}`
}

function cycleThrough(start: string, bundles: ReadonlyMap<string, DependencyFacts>): string[] | undefined {
  const seen = new Set<string>()
  const walk = (at: string, path: readonly string[]): string[] | undefined => {
    for (const dependency of bundles.get(at)?.dependsOn ?? []) {
      const next = fullName(at, dependency.bundle)
      if (next === start) return [...path, next]
      if (seen.has(next)) continue
      seen.add(next)
      const found = walk(next, [...path, next])
      if (found) return found
    }
    return undefined
  }
  return walk(start, [start])
}
