// Tested by src/hub/view/view.contract.test.ts
/** The part of a row that says which revision an agent attempted and applied, and in which ring the cluster is. */
import { compact } from '../../core/compact.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { appliedRevision, attemptedRevision } from '../../plan/fleet/revisions.ts'
import { sameRevision } from '../../plan/fleet/state.ts'
import type { Revision } from '../../plan/fleet/state.ts'
import type { RowCluster } from '../../plan/fleet/view-rows.ts'
import { contentOrigin, entryOrigin, hasSet } from '../../plan/release/content-origin.ts'
import type { ContentOrigin } from '../../plan/release/content-origin.ts'
import { ringOf } from '../../plan/rollout/rings.ts'
import type { BundleFacts, ViewReader } from './bundle-rows.ts'

/** Rings of a Rollout and their recorded boundaries. */
export interface RowRings {
  readonly specs: Rollout['spec']['rings']
  readonly states: NonNullable<NonNullable<Rollout['status']>['rings']>
}

/** A revision with its origin, as a row shows it. */
interface RowRevision extends Partial<ContentOrigin> {
  readonly generation: number
}

/** The fields of a row. A cluster that left or was turned away has none. */
export interface RevisionFields {
  readonly ring?: string
  readonly attempted?: RowRevision
  readonly applied?: RowRevision
}

export async function revisionFields(
  reads: Pick<ViewReader, 'releases' | 'decisions'>,
  bundle: BundleFacts,
  cluster: Cluster,
  { reported, assigned, apart }: RowCluster,
): Promise<RevisionFields> {
  if (apart) return {}
  const attempted = attemptedRevision(reported)
  const applied = appliedRevision(reported, assigned)
  const ring = await ringName(reads, bundle, cluster)
  const shownAttempt = attempted && (await shown(reads, bundle, attempted))
  return compact({
    ring,
    attempted: shownAttempt,
    applied: applied
      ? sameRevision(applied, attempted)
        ? shownAttempt!
        : await shown(reads, bundle, applied)
      : undefined,
  })
}

async function shown(
  reads: Pick<ViewReader, 'releases'>,
  bundle: BundleFacts,
  revision: Revision,
): Promise<RowRevision> {
  return { generation: revision.generation, ...(await originOf(reads, bundle, revision)) }
}

/** Most rows are about the newest Release; only the others cost a list of the Releases. */
async function originOf(
  reads: Pick<ViewReader, 'releases'>,
  { key, name, delivery, newest }: BundleFacts,
  revision: Revision,
): Promise<ContentOrigin | undefined> {
  if (delivery !== undefined) return undefined
  const { bundles, rollBack } = newest?.spec ?? { bundles: [] }
  const entry = bundles.find((one) => one.name === name && one.generation === revision.generation)
  if (entry && !rollBack && hasSet(entry, revision.set)) return entryOrigin(entry)
  const [namespace = ''] = key.split('/')
  return contentOrigin(name, revision, await reads.releases(namespace))
}

async function ringName(
  reads: Pick<ViewReader, 'decisions'>,
  { key, placement, rings }: BundleFacts,
  { metadata }: Cluster,
): Promise<string | undefined> {
  if (!rings) return undefined
  const [namespace = ''] = key.split('/')
  const { name, labels = {} } = metadata
  const { specs } = rings
  const pages = specs.some(({ group }) => group !== undefined) ? await reads.decisions(namespace) : []
  const groups = pages
    .filter(({ spec }) => spec.placement === placement)
    .flatMap(({ spec }) => spec.decisions.find((decision) => decision.cluster === name)?.group || [])
  return specs[ringOf(specs, rings.states, { name, labels, groups })]?.name
}
