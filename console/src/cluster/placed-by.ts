/** Which Placement brought a bundle to a cluster, and why. */
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { PlacementDecision } from '../../../src/kinds/native/placement-decision.ts'

export interface PlacedBy {
  readonly placement: string
  /** The decision's own words; undefined if the Placement does not select the cluster now. */
  readonly reason: string | undefined
  readonly isEvicting: boolean
}

/** The decision for one bundle on one cluster; undefined if the Bundle is unknown. */
export function placedBy(
  key: string,
  {
    cluster,
    bundles,
    decisions,
  }: {
    readonly cluster: string
    readonly bundles: readonly Bundle[]
    readonly decisions: readonly PlacementDecision[]
  },
): PlacedBy | undefined {
  const [namespace, name] = key.split('/')
  const bundle = bundles.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name)
  if (!bundle) return undefined
  const { placement } = bundle.spec
  const found = decisions
    .filter(({ metadata, spec }) => metadata.namespace === namespace && spec.placement === placement)
    .flatMap(({ spec }) => spec.decisions)
    .find((decision) => decision.cluster === cluster)
  return { placement, reason: found?.reason, isEvicting: found?.state === 'Evicting' }
}
