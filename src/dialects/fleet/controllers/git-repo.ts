/** Compiles a GitRepo to Source, Placement, RolloutPlans and Bundles, and writes their state into its status. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { Stalled } from '../../../core/errors.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { Source } from '../../../kinds/native/source.ts'
import { identityOf } from '../../../source/fetch-request.ts'
import { desiredOf, sourceOf, suspendedSource } from '../compile/desired-objects.ts'
import type { FleetSummary, GitRepo } from '../kinds.ts'
import { findingText } from '../../read-fields.ts'
import type { Finding } from '../../read-fields.ts'
import { gitRepoOf, readGitRepoSpec } from '../compile/read-git-repo.ts'
import type { GitRepoSpec } from '../compile/read-git-repo.ts'
import { joinRestrictions, restrictBundles, restrictRepo } from '../compile/restrictions.ts'
import type { Restrictions } from '../compile/restrictions.ts'
import { compileRepository } from '../compile/compile-repository.ts'
import type { ReadRepository } from '../compile/compile-repository.ts'
import { joinFirsts } from '../status/first-clusters.ts'
import { addSummaries, summaryOf, summaryText, worstOf } from '../status/states.ts'
import { unreachedText } from '../status/unreached.ts'
import { heldChange, heldObject, judgeAdded, judgeRemoved } from './guard-repository.ts'
import type { HeldChange } from './guard-repository.ts'
import { prune, writeObjects } from './made-objects.ts'
import { selectionOf } from './ports.ts'
import type { GitRepoPorts } from './ports.ts'
import { bindChartSecret, gitSecret } from './secrets.ts'

/** The most rounds of reading files: first settings, then the files that the settings name. */
const MAX_ROUNDS = 4
const MAX_FINDINGS = 100

interface Compiled {
  readonly digest: Digest
  readonly read: ReadRepository
  /** Whether a bundle depends on the labels of other bundles. */
  readonly sawBundles: boolean
}

/** Writes the objects of a GitRepo when its repository changes. */
export function gitRepoReconciler(ports: GitRepoPorts): Reconciler<GitRepo> {
  const known = new Map<string, Compiled>()
  return {
    name: 'fleet-git-repo',
    async reconcile(draft: Draft<GitRepo>, context: Context): Promise<Result> {
      const key = keyOf(draft.next)
      if (draft.next.metadata.deletionTimestamp) {
        known.delete(key)
        return {}
      }
      const restrictions = joinRestrictions(ports.restrictionsOf(draft.next.metadata.namespace ?? ''))
      const repo = await restricted(draft, restrictions, { ports, context })
      const findings: Finding[] = []
      const spec = readGitRepoSpec(repo.spec, findings)
      const wrong = findings.find(({ level }) => level === 'error')
      if (typeof repo.spec['repo'] !== 'string' || repo.spec['repo'] === '') {
        throw stalled(draft, 'NoRepository', 'spec.repo must name a git repository.')
      }
      if (wrong) throw stalled(draft, 'Refused', `${findingText(wrong)}. ${KEPT}`)
      const source = await sourceFor(draft, repo, { ports, context })
      const artifact = source?.status?.artifact
      if (!source || !artifact || artifact.identity !== identityOf(source.spec)) {
        showFetching(draft, source)
        return {}
      }
      const read = await compiled(repo, spec, { artifact: artifact.digest, known, ports })
      const all = [...findings, ...read.findings]
      if (read.bundles.length === 0) {
        const paths = (spec.paths ?? []).length === 0 ? '.' : spec.paths!.join(', ')
        const why = read.findings.map(findingText).slice(0, 3).join('; ')
        showFindings(draft.next, all)
        const message = `No bundle is found at ${JSON.stringify(paths)} of ${artifact.revision}${why === '' ? '' : `: ${why}`}. ${KEPT}`
        throw stalled(draft, 'NoBundles', message)
      }
      const refusal = restrictions && restrictBundles(read.bundles, restrictions)
      if (refusal !== undefined) throw stalled(draft, 'Restricted', `${refusal} ${KEPT}`)
      const desired = desiredOf(repo, read.bundles)
      const growth = judgeAdded(repo, { bundles: read.bundles, desired }, ports)
      if (growth.kind === 'Held') {
        const { reason, message } = showHeld(draft, heldChange(repo, growth))
        throw stalled(draft, reason, `${message} ${KEPT}`)
      }
      // Judged before new Bundles are written: a commit that replaces all Bundles drops all of them.
      const removal = judgeRemoved(repo, { desired, held: draft.conditions.get('Held')?.message }, ports)
      await bindChartSecret(repo, desired, { ports, context })
      const taken = await writeObjects(repo, desired, { ports, context })
      all.push(...taken)
      const isWhole = read.failed.length === 0 && !all.some(({ level }) => level === 'error')
      const isHeld = removal.kind === 'Held'
      const pruned =
        isWhole && !isHeld ? await prune(repo, [sourceOf(repo), ...desired], { ports, context }) : { again: false }
      showHeld(draft, isHeld ? heldChange(repo, removal) : heldObject(repo, ports.madeFor(repo.metadata.uid ?? '')))
      const waitMs = ports.statusThrottle.waitMs(key)
      const shown = statusOf(repo, { read, findings: all, source, ports })
      if (waitMs > 0 && onlyCounts(draft.seen, shown)) return { requeueAfterMs: waitMs }
      ports.statusThrottle.note(key)
      show(draft, shown, source)
      return pruned.again ? { requeueAfterMs: 1000 } : {}
    },
  }
}

const KEPT = 'Nothing that is delivered is taken away.'

function stalled(draft: Draft<GitRepo>, reason: string, message: string): Stalled {
  const status = (draft.next.status ??= {})
  status.display = { ...status.display, state: 'ErrApplied', message, error: true }
  return new Stalled(reason, message)
}

interface Scene {
  readonly ports: GitRepoPorts
  readonly context: Context
}

/**
 * The GitRepo with the defaults of the restrictions of its namespace. When they refuse it, its Source is fetched no
 * more, because a new commit would reach the Bundles that exist.
 */
async function restricted(
  draft: Draft<GitRepo>,
  restrictions: Restrictions | undefined,
  { ports, context }: Scene,
): Promise<GitRepo> {
  const repo = draft.next
  const answer = restrictions ? restrictRepo(repo.spec, restrictions) : repo
  if (!('refusal' in answer)) return { ...repo, spec: answer.spec }
  const source = ports.sourceOf(repo.metadata.namespace ?? '', repo.metadata.name)
  if (source && !source.spec.suspend) await writeObjects(repo, [suspendedSource(repo, source)], { ports, context })
  throw stalled(draft, 'Restricted', `${answer.refusal} ${KEPT}`)
}

/** The Source, created when it does not exist; a Source of the same name with another owner is left alone. */
async function sourceFor(draft: Draft<GitRepo>, repo: GitRepo, { ports, context }: Scene): Promise<Source | undefined> {
  const secret = await gitSecret(repo, { ports, context })
  const [taken] = await writeObjects(repo, [sourceOf(repo, secret)], { ports, context })
  if (taken) throw stalled(draft, 'NameTaken', `${taken.message}.`)
  return ports.sourceOf(repo.metadata.namespace ?? '', repo.metadata.name)
}

function showFetching({ conditions, next: repo }: Draft<GitRepo>, source: Source | undefined): void {
  const ready = findCondition(source?.status?.conditions, 'Ready')
  const message = ready?.message ?? 'The repository is being fetched.'
  conditions.set('Ready', 'False', 'GitUpdating', message)
  if (ready?.status === 'False') conditions.set('GitPolling', 'False', ready.reason, message)
  const status = (repo.status ??= {})
  status.display = { ...status.display, state: 'GitUpdating', message, error: ready?.status === 'False' }
}

interface Compiling {
  readonly artifact: Digest
  readonly known: Map<string, Compiled>
  readonly ports: GitRepoPorts
}

/** Reads the repository, unless its inputs are unchanged. */
async function compiled(
  repo: GitRepo,
  spec: GitRepoSpec,
  { artifact, known, ports }: Compiling,
): Promise<ReadRepository> {
  const gitRepo = gitRepoOf(repo)
  const workspace = ports.workspace(gitRepo.namespace)
  const before = known.get(keyOf(repo))
  const { groups, named, mappings } = workspace
  const digestWith = (bundles: unknown): Digest =>
    digestOfJson({ artifact, spec: repo.spec, gitRepo, groups, named, mappings: mappings ?? [], bundles })
  if (before?.digest === digestWith(before?.sawBundles ? workspace.bundles : [])) return before.read
  const files = await ports.filesOf(artifact)
  await files.load()
  let sawBundles = false
  const watched = {
    ...workspace,
    get bundles() {
      sawBundles = true
      return workspace.bundles
    },
  }
  const request = { gitRepo, spec, workspace: watched, files }
  let read = compileRepository(request)
  for (let round = 1; round < MAX_ROUNDS && (await files.load()); round++) read = compileRepository(request)
  known.set(keyOf(repo), { digest: digestWith(sawBundles ? workspace.bundles : []), read, sawBundles })
  return read
}

/** Condition Held, only while the guard stops a change. */
function showHeld<T extends HeldChange | undefined>({ conditions }: Draft<GitRepo>, held: T): T {
  if (held) conditions.set('Held', 'True', held.reason, held.message.slice(0, 4096))
  else conditions.remove('Held')
  return held
}

interface Shown {
  readonly summary: FleetSummary
  /** The states of clusters that are not ready. */
  readonly waiting: string
  /** Why no cluster is reached. */
  readonly unreached: string
  readonly commit: string
  readonly bundles: number
  readonly readyClusters: number
  readonly desiredReadyClusters: number
  readonly problem: string | undefined
  readonly warnings: number
  readonly findings: readonly Finding[]
}

interface Showing {
  readonly read: ReadRepository
  readonly findings: readonly Finding[]
  readonly source: Source
  readonly ports: GitRepoPorts
}

function statusOf(repo: GitRepo, { read, findings, source, ports }: Showing): Shown {
  const { namespace = '' } = repo.metadata
  const bundles = read.bundles.flatMap(({ name }) => ports.bundleOf(namespace, name) ?? [])
  const summaries = bundles.map((bundle) => summaryOf(ports.countsOf(bundle)))
  const unrendered = bundles.flatMap(({ metadata, status }) => {
    const rendered = findCondition(status?.conditions, 'Rendered')
    return rendered?.status === 'False' ? [`Bundle ${metadata.name}: ${rendered.message}`] : []
  })
  const errors = findings.filter(({ level }) => level === 'error').map(findingText)
  const [problem] = [...errors, ...unrendered]
  const summary = addSummaries(summaries)
  return {
    summary,
    waiting: summaryText(summary, joinFirsts(bundles.map((bundle) => ports.firstsOf(bundle)))),
    unreached: unreachedText('GitRepo', repo, selectionOf(repo, ports)),
    commit: source.status?.artifact?.commit ?? '',
    bundles: read.bundles.length,
    // All bundles have the targets of their GitRepo: a cluster counts as ready as often as in the bundle that is
    // furthest behind.
    readyClusters: Math.min(...summaries.map(({ ready }) => ready), Number.MAX_SAFE_INTEGER),
    desiredReadyClusters: Math.max(0, ...summaries.map(({ desiredReady }) => desiredReady)),
    problem,
    warnings: findings.length - errors.length,
    findings,
  }
}

/** Whether only counts would change. */
function onlyCounts({ status }: GitRepo, { commit, problem, bundles, findings }: Shown): boolean {
  const isReady = status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason !== 'GitUpdating') ?? false
  const before = status?.findings?.length ?? 0
  const had = status?.display?.error === true
  return (
    isReady &&
    status?.commit === commit &&
    status.bundles === bundles &&
    had === (problem !== undefined) &&
    before === Math.min(MAX_FINDINGS, findings.length)
  )
}

function showFindings(repo: GitRepo, findings: readonly Finding[]): void {
  const status = (repo.status ??= {})
  if (findings.length === 0) delete status.findings
  else status.findings = findings.slice(0, MAX_FINDINGS).map((finding) => findingText(finding).slice(0, 2048))
}

function show({ conditions, next: repo }: Draft<GitRepo>, shown: Shown, source: Source): void {
  const { summary, problem, warnings, bundles } = shown
  const status = (repo.status ??= {})
  const state = problem === undefined ? worstOf(summary) : 'ErrApplied'
  const { waiting } = shown
  const isReady = problem === undefined && waiting === '' && summary.desiredReady > 0
  const message = problem ?? (waiting === '' && summary.desiredReady === 0 ? shown.unreached : waiting)
  status.commit = shown.commit
  status.bundles = bundles
  status.summary = summary
  status.readyClusters = Math.min(shown.readyClusters, shown.desiredReadyClusters)
  status.desiredReadyClusters = shown.desiredReadyClusters
  status.display = compact({
    readyBundleDeployments: `${summary.ready}/${summary.desiredReady}`,
    state,
    message: message === '' ? undefined : message,
    error: problem === undefined ? undefined : true,
  })
  showFindings(repo, shown.findings)
  const count = plural(bundles, 'bundle')
  if (isReady) conditions.set('Ready', 'True', 'Ready', `${count} ready on ${status.readyClusters} clusters.`)
  else conditions.set('Ready', 'False', state, message)
  if (warnings > 0) {
    const first = shown.findings.find(({ level }) => level === 'warning')
    const more = warnings > 1 ? ` and ${warnings - 1} more in status.findings` : ''
    conditions.set('Exact', 'False', 'NotAllHasEffect', `${first ? findingText(first) : ''}${more}.`.slice(0, 4096))
  } else conditions.set('Exact', 'True', 'AllHasEffect', 'Everything that is said has its effect.')
  const polled = findCondition(source.status?.conditions, 'Ready')
  conditions.set(
    'GitPolling',
    polled?.status ?? 'Unknown',
    polled?.reason ?? 'Fetching',
    polled?.message ?? 'The repository is being fetched.',
  )
}
