import { readWholeNumber } from '../../core/read-number.ts'
import { compact } from '../../core/compact.ts'
import { Stalled } from '../../core/errors.ts'
import { canonicalJson, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { apiVersionOf, keyOf } from '../../kinds/meta.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement, ALLOW_DROP_ANNOTATION } from '../../kinds/native/placement.ts'
import type { Project } from '../../kinds/native/project.ts'
import { questionInProject } from '../../plan/projects/placement-question.ts'
import { decidePlacement, summarize } from '../../plan/placement/decide-placement.ts'
import type { ClusterDecision } from '../../plan/placement/decisions/paginate.ts'
import type { PlacementAnswer } from '../../plan/placement/decide-placement.ts'
import type { PlacementQuestion, PlacementWorld } from '../../plan/placement/types.ts'
import { decisionsOnPages, evictingOf, incumbentsOf } from '../../plan/placement/read-objects.ts'
import { judgeClusterTaints } from '../../plan/placement/filter.ts'
import { isSimple, keepsIncumbents, NEWCOMER_MOST } from '../../plan/placement/select-clusters.ts'
import { lintGuard } from '../../plan/lint/lint-safeguards.ts'
import { isFreeGrowth } from '../../plan/placement/growth-guard.ts'
import { noteGrowth, recentGrowth } from './recent-growth.ts'
import { shrinkAllowance } from '../../plan/placement/shrink-guard.ts'
import type { CachedPlacement } from './placement-cache.ts'
import type { PlacementDecidePorts } from './ports.ts'
import { changePages } from './change-pages.ts'
import { freezeOutsiders, projectOfPlacement } from './project-question.ts'

/** Writes the decisions of a Placement on pages; plan/placement/decide-placement.ts decides. */
export function placementDecideReconciler(ports: PlacementDecidePorts): Reconciler<Placement> {
  return {
    name: 'placement-decide',
    async reconcile(draft: Draft<Placement>, context: Context): Promise<Result> {
      const placement = draft.next
      const key = keyOf(placement)
      if (placement.metadata.deletionTimestamp) {
        ports.books.drop(key)
        return {}
      }
      const book = ports.books.open(placement)
      // A pass that fails halfway is repeated from the whole fleet.
      ports.books.drop(key)
      const project = projectOfPlacement(placement, ports.projectOf)
      const since = ports.books.mark()
      const touched = book && (await decideTouched(draft, book, ports, context))
      if (touched) {
        ports.books.keep(placement, touched, since)
        return lookAgain(touched.until, context)
      }
      return await decideWhole(draft, ports, { ...context, since, project })
    },
  }
}

/** Compares only the changed clusters; undefined when the whole fleet is needed. */
async function decideTouched(
  draft: Draft<Placement>,
  book: CachedPlacement,
  ports: PlacementDecidePorts,
  context: Context,
): Promise<CachedPlacement | undefined> {
  const placement = draft.next
  const status = placement.status
  if (status?.decisionsGeneration !== book.generation) return undefined
  const now = context.clock.now()
  if (book.until !== undefined && book.until <= now) return undefined
  if (!isSimple(book.question)) return isUnmoved(placement, book, { ports, now }) ? told(draft, book) : undefined
  const changed = changePages(placement, ports.pagesOf(keyOf(placement)), { book, ports, now })
  // Clusters without a Bundle of the Placement count only for a limit that the author wrote.
  const limit = placement.spec.guard?.maxDropped
  if (!changed || (limit !== undefined && changed.lost > shrinkAllowance(limit, status.selected ?? 0))) return undefined
  const relabelled = changed.gained.filter(
    (name) => !ports.isJoining(name, now) && !ports.holds(placement, name),
  ).length
  const growing = recentGrowth(placement, now) ?? { of: status.selected ?? 0, added: 0 }
  const bundles = ports.bundlesOf(keyOf(placement))
  const grown = (growing.added + relabelled) * bundles
  const maxAdded = placement.spec.guard?.maxAdded
  if (relabelled > 0 && !isFreeGrowth(grown, { of: growing.of * bundles, limit: maxAdded })) return undefined
  for (const page of changed.pages) {
    const writing = ports.books.writing(keyOf(page))
    try {
      await ports.updatePage(page, context.signal)
    } finally {
      writing.done()
    }
  }
  noteGrowth(placement, bundles === 0 ? 0 : relabelled, { now, isReleased: false })
  const selected = (status.selected ?? 0) + changed.gained.length - changed.lost
  status.selected = selected
  if (changed.pages.length > 0) {
    context.log.info({ selected, written: changed.pages.length }, 'placement decided')
  }
  return told(draft, { ...book, selected })
}

/** Sets the conditions from the cached counts. */
function told(draft: Draft<Placement>, book: CachedPlacement): CachedPlacement {
  const { selected, stopped, total, question } = book
  const passing = total - Object.values(stopped).reduce((sum, count) => sum + count, 0)
  const feasible = isSimple(question) ? selected : passing
  const message = summarize({ selected, stopped, unscheduled: 0, feasible }, total)
  setSelected(draft, selected, message)
  return { ...book, changedClusters: new Set() }
}

/**
 * Condition Ready: the Placement is decided. Only after they were True once: condition Empty, nothing is selected, and
 * condition Unguarded, the guard is switched off.
 */
function setSelected({ conditions, next }: Draft<Placement>, selected: number, message: string): void {
  conditions.set('Ready', 'True', selected === 0 ? 'NoClusters' : 'Decided', message)
  if (selected === 0) conditions.set('Empty', 'True', 'NoClusters', message)
  else if (conditions.get('Empty')?.status === 'True')
    conditions.set('Empty', 'False', 'Decided', 'The Placement selects clusters.')
  const [found] = lintGuard(next)
  if (found) conditions.set('Unguarded', 'True', 'GuardOff', `${found.message}; ${found.todo} [${found.check}].`)
  else if (conditions.get('Unguarded')?.status === 'True')
    conditions.set('Unguarded', 'False', 'Guarded', 'A change that deselects too many clusters is stopped.')
}

/**
 * Whether the changed clusters cannot change the selection: the requested number is selected, no changed cluster is
 * among the selected, and no changed cluster can reach the lowest score of the selected.
 */
function isUnmoved(
  placement: Placement,
  { question, filter, selected, lowest, changedClusters: touched }: CachedPlacement,
  { ports, now }: { readonly ports: PlacementDecidePorts; readonly now: number },
): boolean {
  if (!keepsIncumbents(question) || selected !== question.numberOfClusters) return false
  if (lowest === undefined || lowest <= NEWCOMER_MOST) return false
  return [...touched].every((name) => {
    if (ports.pageWith(keyOf(placement), name)) return false
    const cluster = ports.clusterOf(name)
    // A toleration with an end changes the time of the next pass.
    return !cluster || judgeClusterTaints(filter, cluster, { now, incumbent: false }).until === undefined
  })
}

async function decideWhole(
  draft: Draft<Placement>,
  ports: PlacementDecidePorts,
  context: Context & { readonly since: number; readonly project: Project },
): Promise<Result> {
  const placement = draft.next
  const key = keyOf(placement)
  const question = questionInProject(placement, context.project)
  const generation = placement.metadata.generation ?? 1
  const present = new Map(ports.pagesOf(key).map((page) => [page.spec.page, page]))
  const before = decisionsOnPages([...present.values()])
  const world = worldOf(placement, before, ports, context.clock.now())
  const clusters = ports.clusters()
  const release = placement.metadata.annotations?.[ALLOW_DROP_ANNOTATION]
  const maxDropped = placement.spec.guard?.maxDropped
  const decided = placement.status?.decided as unknown as PlacementQuestion | undefined
  freezeOutsiders(placement, question, decided, { world, clusters, project: context.project })
  const answer = decidePlacement(question, clusters, {
    world,
    before: {
      pages: before,
      generation,
      holds: (cluster) => ports.holds(placement, cluster),
      empties: (cluster) => ports.empties(placement, cluster),
      held: placement.status?.held?.token,
      released: placement.status?.released?.token,
      ...compact({ question: decided, maxDropped }),
      maxAdded: placement.spec.guard?.maxAdded,
      bundles: ports.bundlesOf(key),
      growing: recentGrowth(placement, world.now),
      isJoining: (cluster) => ports.isJoining(cluster, world.now),
      ...compact({ release }),
    },
  })
  ports.noteEvicted(
    key,
    new Set(answer.decisions.flatMap(({ cluster, state }) => (state === 'Evicting' ? cluster : []))),
  )
  const { misconfigured, until } = answer.selection
  if (misconfigured === undefined || present.size > 0) {
    await writePages(placement, answer, { present, ports, context })
    if (answer.guard.kind !== 'Held') {
      noteGrowth(placement, answer.relabelled, { now: world.now, isReleased: answer.guard.kind === 'Released' })
    }
    show(placement, question, answer, { generation, at: formatTime(context.clock.now()) })
  }
  if (misconfigured !== undefined) {
    const kept = present.size > 0 ? ' The last good decisions stay in force.' : ''
    throw new Stalled('Misconfigured', `${misconfigured}${kept}`)
  }
  if (answer.guard.kind === 'Held') {
    throw new Stalled(
      'added' in answer.guard ? 'GrowthHeld' : 'DropHeld',
      `${answer.guard.message} The decisions before it stay in force. Let it through with: flotilla guard release placement ${placement.metadata.name} -n ${placement.metadata.namespace ?? ''} (token ${answer.guard.token})`,
    )
  }
  const selected = answer.selection.selected.size
  setSelected(draft, selected, answer.message)
  const book = {
    generation,
    question,
    filter: answer.selection.filter,
    stopped: { ...answer.selection.stopped },
    total: clusters.length,
    changedClusters: new Set<string>(),
    pages: answer.pages.length,
    selected,
    ...lowestOf(answer),
    ...compact({ until }),
  }
  ports.books.keep(placement, book, context.since)
  return lookAgain(until, context)
}

function lowestOf({ selection }: PlacementAnswer): Pick<CachedPlacement, 'lowest'> {
  const scores = [...selection.selected.values()].flatMap(({ score }) => score ?? [])
  return scores.length === 0 ? {} : { lowest: scores.reduce((least, score) => Math.min(least, score)) }
}

function lookAgain(until: number | undefined, { clock }: Context): Result {
  return until === undefined ? {} : { requeueAfterMs: Math.max(1, until - clock.now()) }
}

function worldOf(
  placement: Placement,
  before: readonly (readonly ClusterDecision[])[],
  ports: PlacementDecidePorts,
  now: number,
): PlacementWorld {
  return compact({
    sets: ports.sets(),
    bound: ports.boundTo(placement.metadata.namespace ?? ''),
    incumbents: incumbentsOf(before),
    evicting: new Set(evictingOf(before).filter((cluster) => ports.runs(placement, cluster))),
    load: ports.loadBeside(keyOf(placement)),
    now,
    compileCel: ports.compileCel ? ports.compileCel(placement.spec.scheduler ?? 'native') : undefined,
  })
}

async function writePages(
  placement: Placement,
  answer: PlacementAnswer,
  to: {
    readonly present: ReadonlyMap<number, PlacementDecision>
    readonly ports: PlacementDecidePorts
    readonly context: Context
  },
): Promise<void> {
  const { present, ports, context } = to
  let written = 0
  const write = async (page: PlacementDecision, verb: 'createPage' | 'updatePage' | 'deletePage') => {
    const writing = ports.books.writing(keyOf(page))
    try {
      await ports[verb](page, context.signal)
    } finally {
      writing.done()
    }
    written++
  }
  for (const page of pagesFor(placement, answer)) {
    const before = present.get(page.spec.page)
    if (before && jsonEqual(before.spec, page.spec)) continue
    if (before) await write({ ...before, spec: page.spec }, 'updatePage')
    else await write(page, 'createPage')
  }
  // Pages of an earlier, longer answer; readers ignore pages after `pages`.
  for (const page of present.values()) if (page.spec.page >= answer.pages.length) await write(page, 'deletePage')
  if (written > 0) context.log.info({ selected: answer.decisions.length, written }, 'placement decided')
}

function show(
  placement: Placement,
  question: PlacementQuestion,
  answer: PlacementAnswer,
  now: { readonly generation: number; readonly at: string },
): void {
  const status = (placement.status ??= {})
  const { guard, selection } = answer
  status.selected = answer.decisions.filter(({ state }) => state === 'Selected').length
  status.decisionsGeneration = now.generation
  status.pages = answer.pages.length
  if (selection.unscheduled > 0) status.unscheduled = selection.unscheduled
  else delete status.unscheduled
  if (guard.kind === 'Held') {
    const since = status.held?.token === guard.token ? status.held.since : now.at
    const message = guard.message.slice(0, 1024)
    const counts = 'added' in guard ? { dropping: 0, adding: guard.added } : { dropping: droppedBy(guard.token) }
    status.held = { token: guard.token, ...counts, of: status.selected, allowed: guard.allowed, since, message }
    return
  }
  delete status.held
  if (guard.kind === 'Released') {
    status.released = { token: guard.token, dropped: droppedBy(guard.token), at: now.at }
  }
  if (selection.misconfigured === undefined && !jsonEqual(status.decided, question)) {
    status.decided = JSON.parse(canonicalJson(question)) as JsonObject
  }
}

/** The number in the token of a drop; 0 for other tokens. */
function droppedBy(token: string): number {
  return readWholeNumber(/-drop(\d+)-/.exec(token)?.[1] ?? '') ?? 0
}

function pagesFor(placement: Placement, answer: PlacementAnswer): PlacementDecision[] {
  const { name, namespace, uid, generation = 1 } = placement.metadata
  return answer.pages.map((decisions, page) => ({
    apiVersion: apiVersionOf(PlacementDecision),
    kind: PlacementDecision.kind,
    metadata: compact({
      name: `${name}-${page}`,
      namespace: namespace || undefined,
      ownerReferences: uid
        ? [{ apiVersion: apiVersionOf(Placement), kind: Placement.kind, name, uid, controller: true }]
        : undefined,
    }),
    spec: {
      placement: name,
      placementGeneration: generation,
      page,
      pages: answer.pages.length,
      decisions: decisions.map((decision) => ({ ...decision })),
    },
  }))
}
