import { jsonClone } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import { itemsAt, mapAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { VerbResponse } from '../http/respond.ts'
import { auditLine } from '../server/context.ts'
import type { RequestContext } from '../server/context.ts'
import { decodeObject } from '../http/decode-body.ts'
import {
  storePrefix,
  readObject,
  parseStoreEntry,
  storeKey,
  serializeObject as storedText,
} from '../storage/stored-object.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { checkPreconditions, deleteOptionsOf } from '../http/request-options.ts'
import { badRequest, conflict, methodNotAllowed, notFound } from '../http/api-errors.ts'
import { deleteObject } from '../verbs/delete.ts'
import { checkDisruptionBudgets, recordDisruption } from './disruption-budget.ts'

/** What is done to a pod by posting below it: a scheduler binds it to a node, `kubectl drain` evicts it. */

const DONE: VerbResponse = {
  status: 201,
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
}
const BUDGETS = { group: 'policy', plural: 'poddisruptionbudgets' } as const

/** POST of a Binding: the pod is on its node from now on. */
export async function bindPod(context: RequestContext): Promise<VerbResponse> {
  const { kind, query, parts } = context
  const { value, name } = posted(context)
  const target = mapAt(value, 'target')
  if (!['', 'Node'].includes(textAt(target, 'kind')) || textAt(target, 'name') === '') {
    throw badRequest('a binding needs a target: kind Node and the name of one')
  }
  for (;;) {
    const stored = await podOf(context, name)
    const pod = stored.object
    const subject = { group: '', plural: 'pods/binding' }
    if (pod.metadata.deletionTimestamp !== undefined) {
      throw conflict(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`)
    }
    const node = textAt(pod, 'spec.nodeName')
    if (node !== '') throw conflict(subject, name, `pod ${name} is already assigned to node ${JSON.stringify(node)}`)
    const uid = textAt(value, 'metadata.uid')
    checkPreconditions(kind, pod, uid === '' ? {} : { uid })
    const next = withCondition(pod, { type: 'PodScheduled', status: 'True' }, parts.clock.now())
    next['spec'] = { ...mapAt(next, 'spec'), nodeName: target['name'] }
    const annotations = mapAt(value, 'metadata.annotations') as Record<string, string>
    if (Object.keys(annotations).length > 0) {
      next.metadata.annotations = { ...next.metadata.annotations, ...annotations }
    }
    if (query.getAll('dryRun').length > 0 || (await replaced(context, kind, stored, next))) return DONE
  }
}

/** POST of an Eviction: deletes the pod unless its budget says no. */
export async function evictPod(context: RequestContext): Promise<VerbResponse> {
  const { kind, query, parts, request } = context
  const { value, name } = posted(context)
  if (textAt(value, 'metadata.name', name) !== name) {
    throw badRequest('name in URL does not match name in Eviction object')
  }
  const options = deleteOptionsOf(mapAt(value, 'deleteOptions'))
  const dryRun = options.dryRun || query.getAll('dryRun').length > 0
  const key = { name, namespace: request.namespace! }
  for (;;) {
    const stored = await podOf(context, name)
    checkPreconditions(kind, stored.object, options)
    const budgets = await budgetsOf(context)
    const counting = checkDisruptionBudgets(
      stored.object,
      budgets.map(({ object }) => object),
    )
    const budget = budgets.find(({ object }) => object === counting)
    if (budget && !dryRun) {
      const budgetKind = parts.registry.find(BUDGETS.group, 'v1', BUDGETS.plural)!
      if (!(await replaced(context, budgetKind, budget, recordDisruption(budget.object, name, parts.clock.now()))))
        continue
    }
    const reason = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }
    const condition = { type: 'DisruptionTarget', status: 'True', ...reason }
    // The condition says why the pod is deleted.
    if (!dryRun) {
      await replaced(context, kind, stored, withCondition(stored.object, condition, parts.clock.now()))
    }
    await deleteObject(context, key, { ...options, dryRun })
    return DONE
  }
}

function posted({ http, request }: RequestContext): { readonly value: JsonObject; readonly name: string } {
  if (request.verb !== 'create' || request.name === undefined) throw methodNotAllowed()
  return { value: decodeObject(http).value, name: request.name }
}

async function podOf({ parts, kind, request }: RequestContext, name: string): Promise<StoredObject> {
  const stored = await readObject(parts.store, kind, { name, namespace: request.namespace! })
  if (!stored) throw notFound(kind, name)
  return stored
}

async function budgetsOf({ parts, request }: RequestContext): Promise<StoredObject[]> {
  const { entries } = await parts.store.list({ prefix: storePrefix(BUDGETS, request.namespace) })
  return entries.map(parseStoreEntry)
}

async function replaced(
  context: RequestContext,
  kind: Kind,
  stored: StoredObject,
  next: UnknownObject,
): Promise<boolean> {
  const { parts } = context
  const { ok } = await parts.store.commit({
    key: storeKey(kind, next.metadata),
    expect: stored.revision,
    value: storedText(next),
    audit: auditLine({ ...context, kind }, next, 'update'),
  })
  return ok
}

function withCondition(pod: UnknownObject, wanted: JsonObject & { type: string }, nowMs: number): UnknownObject {
  const next = jsonClone(pod)
  const others = itemsAt(pod, 'status.conditions').filter(({ type }) => type !== wanted.type)
  const { type, status, ...why } = wanted
  const condition = { type, status, lastProbeTime: null, lastTransitionTime: formatTime(nowMs), ...why }
  next['status'] = { ...mapAt(pod, 'status'), conditions: [...others, condition] }
  return next
}
