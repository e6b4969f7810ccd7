import { compact } from '../../core/compact.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Stalled } from '../../core/errors.ts'
import { canonicalJson, jsonEqual } from '../../core/json.ts'
import { nameSome } from '../../core/text/name-some.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { deliveryKeyOf } from '../../kinds/native/delivery.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { assemble } from '../../plan/document/assemble-document.ts'
import type {
  Assembled,
  AssembledEntry,
  AssembledTombstone,
  AssembleInput,
} from '../../plan/document/assemble-document.ts'
import { entriesWithoutRoom } from '../../plan/document/delivery.ts'
import { driftRulesFor } from '../../plan/drift/drift-rules.ts'
import { handoverRuleOf } from '../../plan/handover/handover-rule.ts'
import { clusterHoldSentence, holdOfCluster } from '../../plan/windows/cluster-hold.ts'
import { isSealingKeyRetired } from '../../plan/fleet/sealing-key.ts'
import { windowRulesFor } from '../../plan/windows/window-rules.ts'
import type { ClusterDocument, DocumentEntry, DocumentRules, Tombstone } from '../../wire/document/cluster-document.ts'
import { LIMITS } from '../../wire/limits.ts'
import { SEALED_FEATURE } from '../../wire/document/sealed-values.ts'
import {
  DELIVERY_FEATURE,
  HANDOVER_FEATURE,
  PROJECTS_FEATURE,
  readTrustedDocument,
  TERMINAL_FEATURE,
} from '../../wire/document/signed-document.ts'
import { keyIdOf } from '../../wire/trust/envelope.ts'
import { readPublicKey } from '../../wire/trust/trust-bundle.ts'
import { WireError } from '../../wire/validate.ts'
import { guardBundles } from './guard-bundles.ts'
import type { AssignmentAssemblePorts } from './ports.ts'
import { projectRules, splitAdmissions } from './project-limits.ts'
import { isSealedTo, sealEntries } from './seal-entries.ts'

/** The features that an agent must have to follow a document. */
async function requiresOf(
  { windows, hold, handover, limits, projects, withoutProject }: DocumentRules,
  { entries, tombstones }: Pick<Assembled, 'entries' | 'tombstones'>,
  { requiredBy }: Pick<AssignmentAssemblePorts, 'requiredBy'>,
): Promise<string[]> {
  const ofSets = await Promise.all(entries.map(({ set }) => requiredBy(set)))
  return [
    'sets/v1',
    ...(windows ? ['windows/v1'] : []),
    ...(hold ? ['hold/v1'] : []),
    ...(handover ? [HANDOVER_FEATURE] : []),
    ...(limits ? ['limits/v1'] : []),
    ...(projects || withoutProject ? [PROJECTS_FEATURE] : []),
    ...(entries.some(({ sealed }) => sealed) ? [SEALED_FEATURE] : []),
    ...([...entries, ...tombstones].some(({ bundle }) => deliveryKeyOf(bundle)) ? [DELIVERY_FEATURE] : []),
    ...new Set(ofSets.flat()),
  ]
}

/** Writes a cluster's signed document when its admissions, removals or rules change. */
export function assignmentAssembleReconciler(ports: AssignmentAssemblePorts): Reconciler<Cluster> {
  return {
    name: 'assignment-assemble',
    async reconcile(draft: Draft<Cluster>, context: Context): Promise<Result> {
      const cluster = draft.seen
      const { name } = cluster.metadata
      if (!cluster.spec.accepted || cluster.metadata.deletionTimestamp) return {}
      // A cluster with a kubeconfigSecret has no id before the hub has registered it.
      if (cluster.spec.id === '') return {}

      const found = ports.assignmentOf(name)
      const present = found?.spec.clusterId === cluster.spec.id ? found : undefined
      const before = present?.spec.entries ?? []
      const graves = present?.spec.tombstones ?? []
      const removals = ports.removalsOf(cluster)
      // The guard does not count for a decommission: the person who asked for it has decided that all Bundles go.
      const guard: ReturnType<typeof guardBundles> = cluster.spec.decommission
        ? { removals }
        : guardBundles(cluster, { entries: before, tombstones: graves }, removals)
      const split = await splitAdmissions(name, { admissions: ports.admissionsOf(cluster), entries: before }, ports)
      const { allowed: admissions, frozen } = split
      const input = {
        entries: before,
        tombstones: graves,
        admissions,
        removals: guard.removals,
        removed: ports.removedOf(cluster),
        well: ports.wellOf(cluster, before),
        begun: (bundle: string) => ports.begun(cluster, bundle),
      }
      const { content, left } = assembleWithRoom(input)
      const rules = rulesOf(cluster, content, ports, context.clock.now())
      refuse(content, rules)
      refuseWhileBehind(ports)
      // The condition exists only while something is refused, kept back or left out; see the README.
      draft.conditions.remove('Assigned')
      const withheld = guard.held ?? frozen ?? fullFor(left)
      // Rules are in force on receipt, so a new window, hold, trust bundle or epoch needs a new document.
      // A cluster without content needs a document only to be asked for its free resources.
      const isRuled = present
        ? isTrusted(present, ports) && present.spec.rules === rulesDigest(rules)
        : rules.capacity !== true
      const terminal = present && terminalOf(cluster)
      const isTold = (present?.spec.terminal ?? false) === (terminal !== undefined)
      if (!content.changed && isRuled && isTold && isSealedTo(cluster, content.entries)) {
        if (withheld) throw withheld
        return {}
      }

      const waitMs = ports.pace.waitMs(name)
      if (waitMs > 0) return { requeueAfterMs: waitMs }
      const { entries, unsealed } = await sealEntries(
        cluster,
        { before, entries: content.entries },
        ports,
        context.signal,
      )
      const sameGraves = jsonEqual(content.tombstones, graves)
      if (unsealed && isRuled && isTold && jsonEqual(entries, before) && sameGraves) throw unsealed
      if (found && !present) await ports.deleteAssignment(found, context.signal)

      const document = documentFor(
        cluster,
        present,
        { ...content, entries },
        {
          ancestors: await ancestorsOf(present, ports),
          epoch: ports.epoch(),
          rules,
          requires: await requiresOf(rules, { ...content, entries }, ports),
          terminal,
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
      if (unsealed ?? withheld) throw (unsealed ?? withheld)!
      return {}
    },
  }
}

/** The content of the document, without the new entries for which it has no room. */
function assembleWithRoom(input: AssembleInput): { readonly content: Assembled; readonly left: readonly string[] } {
  const whole = assemble(input)
  const left = entriesWithoutRoom(input.entries, whole.entries, LIMITS.bundles)
  if (left.length === 0) return { content: whole, left }
  const admissions = input.admissions.filter(({ bundle }) => !left.includes(bundle))
  return { content: assemble({ ...input, admissions }), left }
}

/** The condition of a cluster whose document has no room for more Bundles; Deliveries have a condition of their own. */
function fullFor(left: readonly string[]): Stalled | undefined {
  const bundles = left.filter((name) => deliveryKeyOf(name) === undefined)
  if (bundles.length === 0) return undefined
  return new Stalled(
    'TooManyBundles',
    `Its document has the ${LIMITS.bundles} entries that one cluster may have and leaves out ${nameSome(bundles)}; everything else goes on. Select the cluster with fewer Placements.`,
  )
}

function refuse({ conflicts }: Assembled, { windows = [], drift = [] }: DocumentRules): void {
  const conflict = conflicts[0]
  if (conflict) {
    throw new Stalled(
      'GenerationTaken',
      `Generation ${conflict.generation} of ${conflict.bundle} is in the document already with other content; edit the Bundle to make a newer generation.`,
    )
  }
  if (drift.length > LIMITS.driftRules) {
    throw new Stalled(
      'TooManyDriftDecisions',
      `${drift.length} Overrides decide about drift on the cluster, more than the ${LIMITS.driftRules} one document may have; its document stays as it is. Delete some: flotilla get overrides -A`,
    )
  }
  if (windows.length > LIMITS.windows) {
    throw new Stalled(
      'TooManyWindows',
      `${windows.length} windows and freezes concern it, more than the ${LIMITS.windows} one document may have; its document stays as it is. Lift some: flotilla freeze list`,
    )
  }
}

/** The rules of a document, in force on receipt: only windows that concern the Bundles in the document. */
function rulesOf(cluster: Cluster, content: Assembled, ports: AssignmentAssemblePorts, nowMs: number): DocumentRules {
  const { name, labels = {} } = cluster.metadata
  const named = [...content.entries.map((entry) => ports.windowEntryOf(entry)), ...content.tombstones]
  const windows = windowRulesFor({ name, labels, timeZone: cluster.spec.timeZone }, ports.windows(), named)
  const hold = holdOfCluster(cluster)
  const bundles = new Set(content.entries.map(({ bundle }) => bundle))
  const drift = driftRulesFor(name, bundles, { overrides: ports.driftDecisionsOf(name), nowMs })
  return {
    trustVersion: ports.trustVersion(),
    ...compact({
      windows: windows.length > 0 ? windows : undefined,
      hold: hold ? { message: clusterHoldSentence(hold) } : undefined,
      handover: handoverRuleOf(cluster),
      limits: cluster.spec.limits?.maxPrune === undefined ? undefined : { maxPrune: cluster.spec.limits.maxPrune },
    }),
    ...projectRules([...content.entries, ...content.tombstones], ports.projectOf),
    ...compact({
      drift: drift.length > 0 ? drift : undefined,
      retireSealingKey: isSealingKeyRetired(cluster) ? cluster.spec.sealingKey : undefined,
      capacity: cluster.spec.capacityAskedAt === undefined ? undefined : true,
    }),
  }
}

/**
 * The digest of the rules that an Assignment records; undefined without rules, as in Assignments from before rules
 * existed.
 */
function rulesDigest({
  windows,
  hold,
  handover,
  limits,
  projects,
  withoutProject,
  drift,
  retireSealingKey,
  capacity,
}: DocumentRules): Digest | undefined {
  const rules = {
    windows,
    hold,
    limits,
    ...compact({
      handover,
      projects,
      withoutProject,
      drift,
      retireSealingKey: retireSealingKey || undefined,
      capacity: capacity || undefined,
    }),
  }
  return Object.values(rules).some(Boolean) ? digestOf(canonicalJson(rules)) : undefined
}

function isTrusted({ spec }: Assignment, ports: AssignmentAssemblePorts): boolean {
  return (spec.trustVersion ?? 1) === ports.trustVersion()
}

/** A hub that was restored from an older state would issue older content with new revisions. A person decides first. */
function refuseWhileBehind(ports: AssignmentAssemblePorts): void {
  const ahead = ports.clustersAhead(ports.epoch())
  if (ahead.length === 0) return
  const names = nameSome(ahead)
  throw new Stalled(
    'HubBehind',
    `The agents of ${names} hold documents of this hub that the hub does not know: the hub was restored from an older state, and issues no documents. Restore the newer state, or start a new epoch with "flotilla hub new-epoch".`,
  )
}

/**
 * The digests of earlier documents, as the present document lists them; only the present digest when its bytes are
 * gone.
 */
async function ancestorsOf(
  present: Assignment | undefined,
  ports: Pick<AssignmentAssemblePorts, 'getBlob'>,
): Promise<Digest[]> {
  if (!present) return []
  const bytes = await ports.getBlob(present.spec.document)
  const older = (bytes && readTrustedDocument(bytes)?.ancestors) ?? []
  return [present.spec.document, ...older].slice(0, LIMITS.ancestors)
}

function documentFor(
  cluster: Cluster,
  present: Assignment | undefined,
  content: Assembled,
  now: {
    readonly epoch: number
    readonly rules: DocumentRules
    readonly requires: readonly string[]
    readonly terminal: ClusterDocument['terminal'] | undefined
    readonly issuedAt: string
    readonly ancestors: readonly Digest[]
  },
): ClusterDocument {
  return {
    format: 'flotilla.dev/document/v1',
    clusterId: cluster.spec.id,
    ...identityOf(cluster),
    epoch: now.epoch,
    revision: (present?.spec.revision ?? 0) + 1,
    ...(present ? { previous: present.spec.document, ancestors: now.ancestors } : {}),
    issuedAt: now.issuedAt,
    requires: [...now.requires, ...(now.terminal ? [TERMINAL_FEATURE] : [])],
    ...compact({ terminal: now.terminal }),
    rules: now.rules,
    content: {
      entries: content.entries.map(asDocumentEntry),
      tombstones: content.tombstones.map(tombstoneOf),
    },
  }
}

/** A key that is no key is left out: no agent could have enrolled with it. */
function identityOf({ spec }: Cluster): Pick<ClusterDocument, 'identity'> {
  try {
    return { identity: keyIdOf(readPublicKey(spec.identityKey)) }
  } catch (caught) {
    if (caught instanceof WireError) return {}
    throw caught
  }
}

/** The end of the document of a cluster whose decommission is complete. */
function terminalOf({ spec, status }: Cluster): ClusterDocument['terminal'] {
  const { decommission: asked } = spec
  const recorded = status?.decommission
  if (!asked || recorded?.at !== asked.at || recorded.phase === 'Leaving') return undefined
  return compact({ at: asked.at, reason: asked.reason })
}

function tombstoneOf({ bundle, generation, policy, cause }: AssembledTombstone): Tombstone {
  return compact({ bundle, generation, policy, cause })
}

/** The part of an entry that the agent reads; the revision for a rollback stays in the hub. */
function asDocumentEntry(assembled: AssembledEntry): DocumentEntry {
  const { sealed, before: _before, ...entry } = assembled
  return { ...entry, ...compact({ sealed: sealed?.values }) }
}

function assignmentFor(
  cluster: Cluster,
  present: Assignment | undefined,
  document: Omit<ClusterDocument, 'content'> & Pick<Assembled, 'entries' | 'tombstones'>,
  digest: Assignment['spec']['document'],
): Assignment {
  const { clusterId, epoch, revision, previous, entries, tombstones } = document
  const rules = rulesDigest(document.rules)
  return {
    apiVersion: apiVersionOf(Assignment),
    kind: Assignment.kind,
    metadata: present ? { ...present.metadata } : { name: cluster.metadata.name },
    spec: compact({
      clusterId,
      epoch,
      revision,
      document: digest,
      trustVersion: document.rules.trustVersion,
      rules: rules || undefined,
      previous: previous || undefined,
      terminal: document.terminal ? true : undefined,
      entries: entries.map(asWritten),
      tombstones:
        tombstones.length === 0
          ? undefined
          : tombstones.map((tombstone) => ({ ...tombstone, since: tombstone.since ?? revision })),
    }),
  }
}

function asWritten({ before, sealed, ...entry }: AssembledEntry): Assignment['spec']['entries'][number] {
  return {
    ...entry,
    ...compact({ before: before ? { generation: before.generation, set: before.set } : undefined, sealed }),
  }
}
