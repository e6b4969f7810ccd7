import type { Digest } from '../../core/digest.ts'
import { Stalled } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { Assignment } from '../../kinds/assignment.ts'
import type { Cluster } from '../../kinds/cluster.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { assemble } from '../../plan/assemble.ts'
import type { Assembled, AssembledEntry, AssembledTombstone } from '../../plan/assemble.ts'
import type { ClusterDocument, DocumentEntry, Tombstone } from '../../wire/document.ts'
import { LIMITS } from '../../wire/limits.ts'
import { SEALED_FEATURE } from '../../wire/sealed.ts'
import { ownDocument } from '../../wire/signed-document.ts'
import type { AssignmentAssemblePorts } from './ports.ts'
import { isSealedTo, sealEntries } from './seal-entries.ts'

/** What an agent must understand to follow these documents. */
const REQUIRES = ['sets/v1'] as const

/** Keeps a cluster's signed document in step with its admissions. */
export function assignmentAssembleReconciler(ports: AssignmentAssemblePorts): Reconciler<Cluster> {
  return {
    name: 'assignment-assemble',
    async reconcile(draft: Draft<Cluster>, context: Context): Promise<Result> {
      const cluster = draft.seen
      const { name } = cluster.metadata
      if (!cluster.spec.accepted || cluster.metadata.deletionTimestamp) return {}

      const found = ports.assignmentOf(name)
      const present = found?.spec.clusterId === cluster.spec.id ? found : undefined
      const before = present?.spec.entries ?? []
      const content = assemble({
        entries: before,
        tombstones: present?.spec.tombstones ?? [],
        admissions: ports.admissionsOf(cluster),
        removals: ports.removalsOf(cluster),
        removed: ports.removedOf(cluster),
        well: ports.wellOf(cluster, before),
      })
      refuse(content)
      refuseWhileBehind(ports)
      // Only there while something is wrong; see the README.
      draft.conditions.remove('Assigned')
      // A new signer, CA or timeline is in force on receipt, so that every cluster hears of it in a document of its own.
      const isTrusted = !present || (present.spec.trustVersion ?? 1) === ports.trustVersion()
      if (!content.changed && isTrusted && isSealedTo(cluster, content.entries)) return {}

      const waitMs = ports.pace.waitMs(name)
      if (waitMs > 0) return { requeueAfterMs: waitMs }
      const { entries, unsealed } = await sealEntries(
        cluster,
        { before, entries: content.entries },
        ports,
        context.signal,
      )
      const sameGraves = jsonEqual(content.tombstones, present?.spec.tombstones ?? [])
      if (unsealed && isTrusted && jsonEqual(entries, before) && sameGraves) throw unsealed
      if (found && !present) await ports.deleteAssignment(found, context.signal)

      const document = documentFor(
        cluster,
        present,
        { ...content, entries },
        {
          ancestors: await ancestorsOf(present, ports),
          epoch: ports.epoch(),
          trustVersion: ports.trustVersion(),
          issuedAt: formatTime(context.clock.now()),
        },
      )
      const digest = await ports.putBlob(await ports.sign(document, context.signal))
      ports.pace.note(name)
      const { tombstones } = content
      const next = assignmentFor(cluster, present, { ...document, entries, tombstones }, digest)
      if (present) await ports.updateAssignment(next, context.signal)
      else await ports.createAssignment(next, context.signal)
      context.log.info({ cluster: name, revision: document.revision }, 'document issued')
      if (unsealed) throw unsealed
      return {}
    },
  }
}

function refuse({ conflicts, entries }: Assembled): void {
  const conflict = conflicts[0]
  if (conflict) {
    throw new Stalled(
      'GenerationTaken',
      `Generation ${conflict.generation} of ${conflict.bundle} is in the document already with other content; edit the Bundle to make a newer generation.`,
    )
  }
  if (entries.length > LIMITS.bundles) {
    throw new Stalled(
      'TooManyBundles',
      `${entries.length} bundles are more than the ${LIMITS.bundles} one cluster may have; select it with fewer Placements.`,
    )
  }
}

/** A hub that came back from an old state would give its clusters an old content with new numbers. A person looks first. */
function refuseWhileBehind(ports: AssignmentAssemblePorts): void {
  const ahead = ports.clustersAhead(ports.epoch())
  if (ahead.length === 0) return
  const some = ahead.slice(0, 3).join(', ')
  const names = ahead.length > 3 ? `${some} and ${ahead.length - 3} more` : some
  throw new Stalled(
    'HubBehind',
    `The agents of ${names} hold documents of this hub that it does not know: it came back from an older state. Nothing is issued to any cluster. Bring the newer state back, or go on from this one: flotilla hub new-epoch`,
  )
}

/** What came before, as the present document remembers it; without its bytes only itself. */
async function ancestorsOf(
  present: Assignment | undefined,
  ports: Pick<AssignmentAssemblePorts, 'getBlob'>,
): Promise<Digest[]> {
  if (!present) return []
  const bytes = await ports.getBlob(present.spec.document)
  const older = (bytes && ownDocument(bytes)?.ancestors) ?? []
  return [present.spec.document, ...older].slice(0, LIMITS.ancestors)
}

function documentFor(
  cluster: Cluster,
  present: Assignment | undefined,
  content: Assembled,
  now: {
    readonly epoch: number
    readonly trustVersion: number
    readonly issuedAt: string
    readonly ancestors: readonly Digest[]
  },
): ClusterDocument {
  return {
    format: 'flotilla.dev/document/v1',
    clusterId: cluster.spec.id,
    epoch: now.epoch,
    revision: (present?.spec.revision ?? 0) + 1,
    ...(present ? { previous: present.spec.document, ancestors: now.ancestors } : {}),
    issuedAt: now.issuedAt,
    requires: content.entries.some(({ sealed }) => sealed) ? [...REQUIRES, SEALED_FEATURE] : REQUIRES,
    rules: { trustVersion: now.trustVersion },
    content: {
      entries: content.entries.map(asDocumentEntry),
      tombstones: content.tombstones.map(tombstoneOf),
    },
  }
}

function tombstoneOf({ bundle, generation, policy, cause }: AssembledTombstone): Tombstone {
  return { bundle, generation, policy, ...(cause ? { cause } : {}) }
}

/** What of an entry the agent reads; where it would go back to is the hub's business. */
function asDocumentEntry(assembled: AssembledEntry): DocumentEntry {
  const { sealed, before: _before, ...entry } = assembled
  return { ...entry, ...(sealed ? { sealed: sealed.values } : {}) }
}

function assignmentFor(
  cluster: Cluster,
  present: Assignment | undefined,
  document: Omit<ClusterDocument, 'content'> & Pick<Assembled, 'entries' | 'tombstones'>,
  digest: Assignment['spec']['document'],
): Assignment {
  const { clusterId, epoch, revision, previous, entries, tombstones } = document
  return {
    apiVersion: apiVersionOf(Assignment),
    kind: Assignment.kind,
    metadata: present ? { ...present.metadata } : { name: cluster.metadata.name },
    spec: {
      clusterId,
      epoch,
      revision,
      document: digest,
      trustVersion: document.rules.trustVersion,
      ...(previous ? { previous } : {}),
      entries: entries.map(({ bundle, generation, set, rollout, sealed, startBy, before }) => ({
        bundle,
        generation,
        set,
        rollout,
        ...(startBy === undefined ? {} : { startBy }),
        ...(before ? { before: { generation: before.generation, set: before.set } } : {}),
        ...(sealed ? { sealed } : {}),
      })),
      ...(tombstones.length === 0
        ? {}
        : { tombstones: tombstones.map((tombstone) => ({ ...tombstone, since: tombstone.since ?? revision })) }),
    },
  }
}
