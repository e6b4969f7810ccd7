// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** Workloads whose pods stand in several templates: their components, their replicas, and what their pods name. */
import { compact } from '../../../../core/compact.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { compareQuantities, parseQuantity } from '../../../../core/text/quantity.ts'
import { podDependencies } from '../dependencies.ts'
import type { DependentObject } from '../dependencies.ts'
import { requirementsOf } from '../replicas.ts'
import type { ReplicaRequirements } from '../replicas.ts'
import { mapIn } from '../shape.ts'
import type { InterpretedObject } from '../shape.ts'
import type { Component } from './custom-kind.ts'

/** A group of equal pods. */
export interface PodPart {
  readonly name: string
  readonly replicas: number
  /** The spec of its pods. */
  readonly pod: unknown
}

export function componentsOf(parts: readonly PodPart[]): Component[] {
  return parts.map(({ name, replicas, pod }) => compact({ name, replicas, replicaRequirements: requirementsOf(pod) }))
}

/** The objects that the pods of these specs name, each once. */
export function dependenciesOfPods({ metadata }: InterpretedObject, pods: readonly unknown[]): DependentObject[] {
  const namespace = mapIn(metadata)['namespace']
  const named = new Map(
    pods.flatMap((pod) => podDependencies(pod)).map(([kind, name]) => [`${kind}/${name}`, [kind, name]]),
  )
  return [...named.values()].map(([kind, name]) =>
    compact({
      apiVersion: 'v1',
      kind: kind!,
      namespace: typeof namespace === 'string' ? namespace : undefined,
      name: name!,
    }),
  )
}

/** The most that a pod of these parts needs of each resource, with the first claim on nodes. */
export function largestRequirements(parts: readonly PodPart[]): ReplicaRequirements | undefined {
  const all = parts.map(({ pod }) => requirementsOf(pod)).filter((one) => one !== undefined)
  const most = new Map<string, string>()
  for (const { resourceRequest = {} } of all) {
    for (const [resource, amount] of Object.entries(resourceRequest)) {
      const present = most.get(resource)
      if (present === undefined || compareQuantities(parseQuantity(present)!, parseQuantity(amount)!) < 0) {
        most.set(resource, amount)
      }
    }
  }
  const nodeClaim: JsonObject | undefined = all.find((one) => one.nodeClaim)?.nodeClaim
  const requires = compact({ nodeClaim, resourceRequest: most.size > 0 ? Object.fromEntries(most) : undefined })
  return Object.keys(requires).length > 0 ? requires : undefined
}
