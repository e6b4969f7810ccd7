// Tested by src/cli/checks/agent-checks.test.ts
/** The rights of the agent and of its executors in the cluster, by SelfSubjectAccessReviews. */
import { clientOver } from '../../client/create-client.ts'
import { createDiscovery } from '../../client/discovery.ts'
import { createRest } from '../../client/rest.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Transport } from '../../core/http.ts'
import { VERSION } from '../../core/version.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { SelfSubjectAccessReview } from '../../kinds/builtin/reviews.ts'
import type { ClusterRights, ExecutorRights, Right } from '../../plan/fleet/agent-diagnostics.ts'
import { executorVerbs } from '../../plan/apply/executor-verbs.ts'
import type { ApplyMethod } from '../../plan/apply/executor-verbs.ts'
import { userOf } from '../../plan/apply/local-limits.ts'
import type { Executor } from '../../plan/apply/local-limits.ts'
import { objectOptions } from '../../plan/objects/object-options.ts'
import { withImpersonation } from '../cluster/executor-appliers.ts'
import { AGENT_NAMESPACE } from '../cluster/agent-objects.ts'
import { createClusterState } from '../cluster/cluster-state.ts'
import type { Inventory } from '../cluster/inventory.ts'

/** The connection to the cluster. */
export interface RightsInspection {
  readonly transport: Transport
  readonly server: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

const MOST_QUESTIONS = 400
const own = (resource: string, verbs: readonly string[]): Right[] =>
  verbs.map((verb) => ({ verb, resource, namespace: AGENT_NAMESPACE }))

/** Required rights: for inventories and the high-water mark. */
const NEEDED = own('configmaps', ['get', 'list', 'create', 'update', 'delete'])
/** Optional rights: for frozen values of recipes, and for facts from nodes. */
const USED: readonly Right[] = [
  ...own('secrets', ['get', 'create', 'update', 'delete']),
  { verb: 'list', resource: 'nodes' },
]

/** Asks the cluster for the rights that the agent needs and that its bundles need. */
export async function inspectRights({ transport, server, clock, signal }: RightsInspection): Promise<ClusterRights> {
  const userAgent = `flotilla-check/${VERSION}`
  const rest = createRest({ transport, clock, userAgent })
  const client = clientOver(rest)
  const discovery = createDiscovery(rest)
  const mayAs =
    (by: Transport) =>
    async (right: Right): Promise<boolean> => {
      const asker = clientOver(createRest({ transport: by, clock, userAgent }))
      const answer = await asker.create(SelfSubjectAccessReview, newReview(right), { signal })
      return answer.status?.allowed === true
    }
  try {
    const version = await discovery.version(signal)
    const may = mayAs(transport)
    const lacking = await findDenied(NEEDED, may)
    const missed = await findDenied(USED, may)
    const inventories = await createClusterState(client)
      .listInventories(signal)
      .catch((caught: unknown) => {
        if (isApiError(caught, 'Forbidden')) return []
        throw caught
      })
    let left = MOST_QUESTIONS
    let unasked = 0
    const executors: ExecutorRights[] = []
    for (const { executor, bundles, objects } of byExecutor(inventories)) {
      const wanted = await rightsFor(objects, (object) => discovery.typeOf(object.apiVersion, object.kind, signal))
      const asked = wanted.slice(0, left)
      left -= asked.length
      unasked += wanted.length - asked.length
      const needed = asked.filter(({ isNeeded }) => isNeeded).map(({ right }) => right)
      const watching = asked.filter(({ isNeeded }) => !isNeeded).map(({ right }) => right)
      const by = executor ? withImpersonation(transport, userOf(executor)) : transport
      const about = compact({ executor: executor ? `${executor.namespace}/${executor.name}` : undefined, bundles })
      try {
        const denied = await findDenied(needed, mayAs(by))
        const unwatched = await findDenied(watching, mayAs(by))
        executors.push({ ...about, asked: asked.length, denied, ...compact({ unwatched: someOf(unwatched) }) })
      } catch (caught) {
        executors.push({ ...about, asked: 0, denied: [], trouble: toError(caught).message })
      }
    }
    return { server, version, lacking, missed, executors, unasked }
  } catch (caught) {
    return { server, trouble: toError(caught).message }
  }
}

function newReview({ verb, resource, namespace }: Right): SelfSubjectAccessReview {
  const dot = resource.indexOf('.')
  const [plural, group] = dot < 0 ? [resource, ''] : [resource.slice(0, dot), resource.slice(dot + 1)]
  const where = namespace === undefined ? {} : { namespace }
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: { name: '' },
    spec: { resourceAttributes: { verb, group, resource: plural, ...where } },
  }
}

async function findDenied(rights: readonly Right[], may: (right: Right) => Promise<boolean>): Promise<Right[]> {
  const denied: Right[] = []
  for (const right of rights) if (!(await may(right))) denied.push(right)
  return denied
}

const someOf = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list)

/** An object, and how the agent writes it. */
type WrittenObject = Inventory['objects'][number] & { readonly method: ApplyMethod }

interface ExecutorWork {
  readonly executor: Executor | undefined
  readonly bundles: string[]
  readonly objects: WrittenObject[]
}

/** Bundles and objects by executor, as the inventories record them. */
function byExecutor(inventories: readonly Inventory[]): ExecutorWork[] {
  const found = new Map<string, ExecutorWork>()
  for (const { bundle, options = {}, objects } of inventories) {
    const { executor } = options
    const key = executor ? `${executor.namespace}/${executor.name}` : ''
    const work = found.get(key) ?? { executor, bundles: [], objects: [] }
    work.bundles.push(bundle)
    work.objects.push(...objects.map((object) => ({ ...object, method: methodOf(options, object) })))
    found.set(key, work)
  }
  return [...found.values()]
}

/** The method of an object by the options of its bundle. An inventory does not keep the annotations of objects. */
function methodOf(options: BundleOptions, object: Inventory['objects'][number]): ApplyMethod {
  const { apiVersion, kind, name, namespace } = object
  const read = objectOptions(options, { apiVersion, kind, metadata: { name, ...compact({ namespace }) } })
  return read.ok ? read.options.method : 'ServerSideApply'
}

type TypeOf = (object: Inventory['objects'][number]) => Promise<{ group: string; plural: string } | undefined>

/** A right that a change needs, or that lets the agent see changes at once. */
interface WantedRight {
  readonly right: Right
  readonly isNeeded: boolean
}

/** The rights to read, apply, prune and watch each kind in each namespace. */
async function rightsFor(objects: ExecutorWork['objects'], typeOf: TypeOf): Promise<WantedRight[]> {
  const rights = new Map<string, WantedRight>()
  for (const object of objects) {
    const type = await typeOf(object)
    if (!type) continue
    const resource = type.group === '' ? type.plural : `${type.plural}.${type.group}`
    const where = object.namespace === undefined ? {} : { namespace: object.namespace }
    const { required, watching } = executorVerbs(object.method)
    for (const verb of [...required, ...watching]) {
      const isNeeded = required.includes(verb)
      rights.set(`${verb} ${resource} ${object.namespace ?? ''}`, { right: { verb, resource, ...where }, isNeeded })
    }
  }
  return [...rights.values()]
}
