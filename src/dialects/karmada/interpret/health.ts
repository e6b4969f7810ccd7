// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** InterpretHealth: whether an object on a cluster works. */
import { countIn, kindOf, listIn, mapIn, replicasIn, textIn } from './shape.ts'
import type { InterpretedObject } from './shape.ts'

type Healthy = (object: InterpretedObject) => boolean

const HEALTHY: Readonly<Record<string, Healthy>> = {
  'apps/v1 Deployment': isRolledOut,
  'apps/v1 StatefulSet': isRolledOut,
  'apps/v1 ReplicaSet': (object) =>
    isObserved(object) && countIn(object['status'], 'availableReplicas') >= (replicasIn(object) ?? 0),
  'apps/v1 DaemonSet': (object) => {
    const count = (field: string): number => countIn(object['status'], field)
    const updated = count('updatedNumberScheduled')
    return isObserved(object) && updated >= count('desiredNumberScheduled') && count('numberAvailable') >= updated
  },
  'v1 Service': (object) => textIn(object, 'spec', 'type') !== 'LoadBalancer' || hasAddress(object),
  'networking.k8s.io/v1 Ingress': hasAddress,
  'v1 PersistentVolumeClaim': (object) => textIn(object, 'status', 'phase') === 'Bound',
  'v1 Pod': (object) => {
    const phase = textIn(object, 'status', 'phase')
    return phase === 'Succeeded' || (phase === 'Running' && isReady(object))
  },
  'policy/v1 PodDisruptionBudget': ({ status }) =>
    countIn(status, 'currentHealthy') >= countIn(status, 'desiredHealthy'),
}

/** Undefined for a kind without a rule. */
export function interpretHealth(object: InterpretedObject): boolean | undefined {
  return HEALTHY[kindOf(object)]?.(object)
}

function isObserved({ metadata, status }: InterpretedObject): boolean {
  return countIn(status, 'observedGeneration') === (metadata.generation ?? 0)
}

function isRolledOut(object: InterpretedObject): boolean {
  const updated = countIn(object['status'], 'updatedReplicas')
  const available = countIn(object['status'], 'availableReplicas')
  return isObserved(object) && updated >= (replicasIn(object) ?? 0) && available >= updated
}

function hasAddress(object: InterpretedObject): boolean {
  return listIn(object, 'status', 'loadBalancer', 'ingress').some(
    (address) => textIn(address, 'ip') !== '' || textIn(address, 'hostname') !== '',
  )
}

function isReady(object: InterpretedObject): boolean {
  return listIn(object, 'status', 'conditions').some((condition) => {
    const { type, status } = mapIn(condition)
    return type === 'Ready' && status === 'True'
  })
}
