// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Dependencies between objects of one kind. */
import { findCondition } from '../../../core/conditions.ts'
import { Stalled, Waiting } from '../../../core/errors.ts'
import type { Condition, KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import type { Dependency } from '../compile/compile-kustomization.ts'
import { HealthExpressionError, readyExpression } from '../health/health-expressions.ts'

/** As in Flux: the time after which a dependency is looked for again. */
const RETRY_MS = 30_000

type Followed = KubeObject & { readonly status?: { readonly conditions?: Condition[] } }

/** The objects of a kind, and what was delivered of them. */
export interface DependencyScene {
  readonly kind: { readonly kind: string; readonly plural: string; readonly group: string }
  find(namespace: string, name: string): Followed | undefined
  isDelivered(namespace: string, name: string): boolean
}

/** Throws Waiting unless a dependency exists and was delivered once; its state is judged for each cluster. */
export function checkDependency(
  object: KubeObject,
  { namespace, name, readyExpr }: Dependency,
  { kind, find, isDelivered }: DependencyScene,
): void {
  const id = `${namespace}/${name}`
  const wait = (problem: string): never => {
    throw new Waiting('DependencyNotReady', `dependency '${id}' ${problem}`, RETRY_MS)
  }
  if (namespace !== object.metadata.namespace) {
    throw new Stalled('AccessDenied', `can't access '${kind.kind}/${id}', cross-namespace references have been blocked`)
  }
  const found = find(namespace, name)
  if (!found) return wait(`not found: ${kind.plural}.${kind.group} "${name}" not found`)
  if (readyExpr !== '') {
    if (!isReadyBy(readyExpr, object, found)) wait('is not ready according to readyExpr eval')
    return
  }
  if (!isDelivered(namespace, name)) wait('is not ready')
}

function isReadyBy(source: string, self: KubeObject, dependency: KubeObject): boolean {
  try {
    return readyExpression(source)(self as UnknownObject, dependency as UnknownObject)
  } catch (caught) {
    if (!(caught instanceof HealthExpressionError)) throw caught
    throw new Stalled('InvalidCELExpression', caught.message)
  }
}

/** Whether an object is ready. */
export function isReady(object: Followed | undefined): boolean {
  return findCondition(object?.status?.conditions, 'Ready')?.status === 'True'
}
