// Tested by src/dialects/argo/served/application-set.sim.test.ts
/** Makes the Applications of an ApplicationSet, and writes its status. */
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { apiVersionOf, keyOf } from '../../../kinds/meta.ts'
import type { OwnerReference } from '../../../kinds/meta.ts'
import { Source } from '../../../kinds/native/source.ts'
import { identityOf } from '../../../source/fetch-request.ts'
import { COMPILED, POLL, REFRESH_SET } from '../annotations.ts'
import { ApplicationSetError } from '../applicationset/applicationset-error.ts'
import { Application, ApplicationSet } from '../kinds.ts'
import { locationOf } from '../compile/source-location.ts'
import { rollingStrategy, stepOf } from '../sync/rolling-sync.ts'
import { createAnswerCache } from '../scm/service-answers.ts'
import type { Answers } from '../scm/service-answers.ts'
import { effectiveSpec } from './operations/sync-overrides.ts'
import { showSteps } from './rolling/show-steps.ts'
import {
  accessProject,
  annotationsBelow,
  foreignProblem,
  nestedSetProblem,
  refusedQuestion,
} from './nested/nested-sets.ts'
import { compileServed } from './compile-served.ts'
import { decisionConfigMaps, generatedProblem, generateServed } from './generate-served.ts'
import type { Generated } from './generate-served.ts'
import { judgeLeftApplications, judgeNewApplications } from './guard-generated.ts'
import type { ArgoPorts } from './ports.ts'
import { createAccess } from './repository-credentials.ts'
import type { Access } from './repository-credentials.ts'
import type { Desired } from './served-objects.ts'
import { compileWith, fetchedSources, refusedWrite, writeObjects } from './write-objects.ts'

/** Argo CD looks at decisions every three minutes. */
const AGAIN_MS = 180_000
const MAX_RESOURCES = 1000
/** Rounds of generating: a round may need further repositories, or answers of services. */
const MAX_ROUNDS = 8

export function applicationSetReconciler(ports: ArgoPorts): Reconciler<ApplicationSet> {
  const cache = createAnswerCache(ports)
  return {
    name: 'argo-application-set',
    async reconcile(draft: Draft<ApplicationSet>, context: Context): Promise<Result> {
      const set = draft.next
      const key = keyOf(set)
      if (set.metadata.deletionTimestamp) {
        cache.forget(key)
        return {}
      }
      if (await takeRefresh(set, ports, context)) {
        cache.forget(key)
        return {}
      }
      const answers = cache.open(key, set.metadata.namespace ?? '', context.clock.now())
      const generated = await generate(set, ports, context, answers)
      const askedAgain = compact({ requeueAfterMs: answers.finish() })
      if (typeof generated === 'string') return { ...showError(draft, generated, ports, context), ...askedAgain }
      if ('waiting' in generated) {
        draft.conditions.set('ParametersGenerated', 'False', 'Fetching', generated.waiting)
        return {}
      }
      const problem = generatedProblem(set, generated.applications) ?? nestedSetProblem(set, generated.applications)
      if (problem !== undefined) return showError(draft, problem, ports, context)
      const unwritten = await write(draft, generated, { ports, context })
      show(draft, { ...generated, unwritten }, ports, context)
      showSteps(draft, ports, context)
      const isLookedAtAgain = decisionConfigMaps(set.spec).length > 0 || unwritten.length > 0
      const { requeueAfterMs = Infinity } = askedAgain
      return isLookedAtAgain ? { requeueAfterMs: Math.min(AGAIN_MS, requeueAfterMs) } : askedAgain
    },
  }
}

/** Fetches the repositories after a request by annotation, which is removed. */
async function takeRefresh(set: ApplicationSet, ports: ArgoPorts, { clock, signal }: Context): Promise<boolean> {
  const { [REFRESH_SET]: asked, ...rest } = set.metadata.annotations ?? {}
  if (asked === undefined) return false
  for (const { kind, object } of ports.madeFor(set.metadata.uid ?? '')) {
    if (kind === Source) await ports.annotate(kind, object, { [POLL]: `argo-${clock.now()}` }, signal)
  }
  set.metadata.annotations = rest
  return true
}

/** Generates on what the Sources of the set have fetched; new repositories get a Source first. */
async function generate(
  set: ApplicationSet,
  ports: ArgoPorts,
  context: Context,
  answers: Answers,
): Promise<Generated | { readonly waiting: string } | string> {
  const { namespace = '' } = set.metadata
  const clusters = ports.clusters(namespace)
  if ('refusal' in clusters) return clusters.refusal
  const objects = await ports.decisions(namespace, decisionConfigMaps(set.spec), context.signal)
  const sources = new Map<string, Desired>()
  const access = createAccess(namespace, accessProject(set, templateProject(set)), ports)
  try {
    // A repository may be known only after another was read.
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const fetched = await fetchedSources(
        namespace,
        [...sources.values()].map(({ object }) => object),
        ports,
      )
      const failed = [...fetched.missing.values()].find((message) => message !== '')
      if (failed !== undefined) return `error generating params from git: ${failed}`
      const generated = await compileWith(fetched, () =>
        generateServed(set, {
          clusters,
          projects: ports.projects(namespace),
          objects,
          repositoryOf: (url, revision) => fetched.of(url, revision),
          answerOf: (question) => refusedQuestion(set, question) ?? answers.of(question),
        }),
      )
      if (generated.asked.length > 0) {
        const tooMany = await answers.ask(generated.asked, context.signal)
        if (tooMany !== undefined) return tooMany
        continue
      }
      const before = sources.size
      for (const one of sourcesOf(set, generated.wanted, access)) sources.set(one.object.metadata.name, one)
      if (sources.size === before) {
        if (generated.wanted.length > 0) return { waiting: 'The repositories of the generators are being fetched.' }
        if (generated.unread.length > 0) {
          return `error generating params from git: cannot read ${nameSome(generated.unread)}; a file of a generator must be UTF-8 text of at most 4 MiB`
        }
        await pruneSources(set, new Set([...sources.keys(), ...neededSources(set, generated.applications, ports)]), {
          ports,
          context,
        })
        return generated
      }
      const closed = await access.write([...sources.values()], context)
      if (closed !== undefined) return `error generating params from git: ${closed}`
      const [taken] = await writeObjects(set, [...sources.values()], { ports, context })
      if (taken !== undefined) return taken
    }
    return { waiting: 'The repositories of the generators are being fetched.' }
  } catch (caught) {
    if (caught instanceof ApplicationSetError) return caught.message
    throw caught
  }
}

/** The Sources of repositories that generators read. */
function sourcesOf(set: ApplicationSet, wanted: Generated['wanted'], access: Access): readonly Desired[] {
  const applications = wanted.map((source, at) => ({
    bundle: `generator-${at}`,
    application: { metadata: { name: 'generator' }, spec: { source: { ...source, path: '.' } } },
    clusters: [],
  }))
  return compileServed(set, applications, () => undefined, access.of).desired.filter(({ kind }) => kind === Source)
}

/** The AppProject whose repository Secrets generators use; none when the template decides it. */
function templateProject({ spec }: ApplicationSet): string {
  const { template } = spec as { readonly template?: { readonly spec?: { readonly project?: unknown } } }
  const project = template?.spec?.project
  return typeof project === 'string' && !project.includes('{{') ? project : ''
}

/** Names of the Sources that the Applications need. */
function neededSources(set: ApplicationSet, applications: readonly Application[], ports: ArgoPorts): string[] {
  const byProject = Map.groupBy(applications, ({ spec }) => spec.project ?? '')
  return [...byProject].flatMap(([project, same]) => {
    const access = createAccess(set.metadata.namespace ?? '', project, ports)
    const served = same.map((application) => ({ bundle: application.metadata.name, application, clusters: [] }))
    return compileServed(set, served, () => undefined, access.of).desired.flatMap(({ kind, object }) =>
      kind === Source ? [object.metadata.name] : [],
    )
  })
}

interface Writing {
  readonly ports: ArgoPorts
  readonly context: Context
}

async function pruneSources(
  set: ApplicationSet,
  wanted: ReadonlySet<string>,
  { ports, context }: Writing,
): Promise<void> {
  const { uid = '', namespace = '' } = set.metadata
  const left = ports
    .madeFor(uid)
    .filter(({ kind, object: { metadata } }) => kind === Source && !wanted.has(metadata.name))
    .filter(({ object: { metadata } }) => !ports.isUsed(namespace, metadata.name))
  if (left.length === 0) return
  // An Application has no Bundle before its repository was fetched, and would make the Source again.
  const needed = new Set(ports.applicationsOf(uid).flatMap(locationsOf))
  for (const { kind, object } of left) {
    if (!needed.has(identityOf((object as unknown as Source).spec))) await ports.remove(kind, object, context.signal)
  }
}

/** The repositories and charts of an Application, also of a sync that pinned others. */
function locationsOf(application: Application): string[] {
  return [application.spec, effectiveSpec(application)].flatMap(({ source, sources = [] }) =>
    [...(source ? [source] : []), ...sources].flatMap((one) => {
      const location = locationOf(one)
      return 'problem' in location ? [] : [identityOf(location.spec)]
    }),
  )
}

type SyncPolicy = 'create-only' | 'create-update' | 'create-delete' | 'sync'

function policyOf({ spec }: ApplicationSet): SyncPolicy {
  const policy = spec['syncPolicy'] as { readonly applicationsSync?: SyncPolicy } | undefined
  return policy?.applicationsSync ?? 'sync'
}

/**
 * Writes Applications that are missing or different, and deletes Applications that are no longer generated. Returns why
 * some are not written.
 */
async function write(
  { next: set, conditions }: Draft<ApplicationSet>,
  { applications, problems, without }: Generated,
  { ports, context }: Writing,
): Promise<string[]> {
  const unwritten: string[] = []
  const present = ports.applicationsOf(set.metadata.uid ?? '').filter(({ metadata }) => !metadata.deletionTimestamp)
  const presentBy = new Map(present.map((application) => [application.metadata.name, application]))
  const policy = policyOf(set)
  const resolve = ports.destinations()
  const clusterOf = ({ spec }: Application) => {
    const found = resolve(spec.destination ?? {})
    return 'cluster' in found ? found.cluster : undefined
  }
  const guarded = { set, present, clusterOf, now: context.clock.now() }
  const newcomers = applications.filter(({ metadata }) => !presentBy.has(metadata.name))
  const growth = judgeNewApplications(newcomers, guarded)
  for (const application of inSteps(set, applications)) {
    const wanted = generatedApplication(set, application)
    const before = presentBy.get(wanted.metadata.name)
    if (growth?.names.has(wanted.metadata.name)) continue
    if (before?.metadata.annotations?.[COMPILED] === wanted.metadata.annotations?.[COMPILED]) continue
    if (before && (policy === 'create-only' || policy === 'create-delete')) continue
    const owner = ports.setOwnerOf(set.metadata.namespace ?? '', wanted.metadata.name)
    if (owner && owner.uid !== set.metadata.uid) {
      unwritten.push(
        `Application ${wanted.metadata.name} is made by ApplicationSet ${owner.name}; change metadata.name in the template of one of them`,
      )
      continue
    }
    const { name, namespace = '' } = wanted.metadata
    const foreign = foreignProblem(set, name, ports.findNested(Application, namespace, name))
    if (foreign !== undefined) {
      unwritten.push(foreign)
      continue
    }
    try {
      await ports.applyApplication(wanted, context.signal)
    } catch (caught) {
      unwritten.push(refusedWrite(caught, Application.kind, wanted.metadata.name))
      continue
    }
    context.log.info({ application: wanted.metadata.name, set: set.metadata.name }, 'generated')
  }
  const names = new Set(applications.map(({ metadata }) => metadata.name))
  const clusters = ports.clusters(set.metadata.namespace ?? '')
  const reached = new Set('refusal' in clusters ? [] : clusters.map(({ metadata }) => metadata.name))
  const isKept = (application: Application): boolean => {
    const name = clusterOf(application)?.metadata.name
    if (name === undefined) return false
    if (without.includes(name)) return true
    if (reached.has(name)) return false
    // As with a Placement, what a Project no longer allows is frozen and not removed.
    unwritten.push(
      `Application ${application.metadata.name} is no longer generated and stays, because the Project of the namespace does not let it select Cluster ${name}; delete the Application to remove it`,
    )
    return true
  }
  const left = present.filter((one) => !names.has(one.metadata.name) && !isKept(one))
  // An Application whose parameters have a mistake may be among them.
  const mayDelete = problems.length === 0 && (policy === 'sync' || policy === 'create-delete') && left.length > 0
  const drop = mayDelete
    ? judgeLeftApplications(left, {
        ...guarded,
        isEmpty: names.size === 0,
        held: conditions.get('Held')?.message,
      })
    : undefined
  const held = growth ?? drop
  if (held) conditions.set('Held', 'True', held.reason, held.message.slice(0, 4096))
  else conditions.remove('Held')
  if (mayDelete && !drop) for (const application of left) await ports.removeApplication(application, context.signal)
  return unwritten
}

/** With RollingSync, the Applications of an earlier step are written first: a later step waits for what is written. */
function inSteps({ spec }: ApplicationSet, applications: readonly Application[]): readonly Application[] {
  const strategy = rollingStrategy(spec)
  if (!strategy || 'problem' in strategy) return applications
  const rank = ({ metadata }: Application): number => {
    const step = stepOf(metadata.labels ?? {}, strategy.steps)
    return step < 0 ? strategy.steps.length : step
  }
  return applications.toSorted((a, b) => rank(a) - rank(b))
}

/** The Application as it is stored. */
function generatedApplication(set: ApplicationSet, { metadata, spec }: Application): Application {
  const { name, labels, finalizers } = metadata
  const annotations = { ...metadata.annotations, ...annotationsBelow(set) }
  const compiled = digestOfJson({ spec, labels, annotations, finalizers })
  const { name: owner, namespace = '', uid = '' } = set.metadata
  const ownerReferences: OwnerReference[] = [
    { apiVersion: apiVersionOf(ApplicationSet), kind: ApplicationSet.kind, name: owner, uid, controller: true },
  ]
  return {
    apiVersion: apiVersionOf(Application),
    kind: Application.kind,
    metadata: compact({
      name,
      namespace,
      labels,
      finalizers,
      annotations: { ...annotations, [COMPILED]: compiled },
      ownerReferences,
    }),
    spec,
  }
}

/** An error of the whole set: nothing is created, changed or deleted. */
function showError(draft: Draft<ApplicationSet>, message: string, ports: ArgoPorts, context: Context): Result {
  const { conditions } = draft
  const text = message.slice(0, 4096)
  conditions.set('ErrorOccurred', 'True', 'ApplicationParamsGenerationError', text)
  conditions.set('ParametersGenerated', 'False', 'ErrorOccurred', text)
  conditions.set('ResourcesUpToDate', 'False', 'ApplicationParamsGenerationError', text)
  showResources(draft, ports, { status: 'Degraded', message: text }, context)
  return {}
}

function show(
  draft: Draft<ApplicationSet>,
  { applications, problems, without, unwritten }: Generated & { readonly unwritten: readonly string[] },
  ports: ArgoPorts,
  context: Context,
): void {
  const { conditions } = draft
  const said = [
    ...problems,
    ...unwritten,
    ...(without.length === 0
      ? []
      : [`No Application is generated for ${nameSome(without)}, which a generator chose; what runs there stays`]),
  ]
  conditions.set(
    'ParametersGenerated',
    'True',
    'ParametersGenerated',
    `Successfully generated parameters for ${applications.length} Applications`,
  )
  if (said.length > 0) {
    const text = `${said.slice(0, 5).join('; ')}${said.length > 5 ? `; and ${said.length - 5} more` : ''}.`.slice(
      0,
      4096,
    )
    conditions.set('ErrorOccurred', 'True', 'ApplicationParamsGenerationError', text)
    conditions.set('ResourcesUpToDate', 'False', 'ApplicationSetModified', text)
    showResources(draft, ports, { status: 'Degraded', message: text }, context)
    return
  }
  conditions.set(
    'ErrorOccurred',
    'False',
    'ApplicationSetUpToDate',
    'Successfully generated parameters for all Applications',
  )
  conditions.set(
    'ResourcesUpToDate',
    'True',
    'ApplicationSetUpToDate',
    'All applications have been generated successfully',
  )
  showResources(draft, ports, { status: 'Healthy' }, context)
}

function showResources(
  { next: set }: Draft<ApplicationSet>,
  ports: ArgoPorts,
  health: { readonly status: string; readonly message?: string },
  { clock }: Context,
): void {
  const status = (set.status ??= {})
  const present = ports
    .applicationsOf(set.metadata.uid ?? '')
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  status.resourcesCount = present.length
  status.resources = present.slice(0, MAX_RESOURCES).map(({ metadata, status: shown }) =>
    compact({
      group: Application.group,
      version: Application.version,
      kind: Application.kind,
      namespace: metadata.namespace,
      name: metadata.name,
      status: shown?.sync?.status,
      health: shown?.health && { status: shown.health.status },
    }),
  )
  const before = status.health
  status.health = {
    ...health,
    lastTransitionTime: before?.status === health.status ? (before.lastTransitionTime ?? '') : formatTime(clock.now()),
  }
}
