import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../meta.ts'
import { itemsAt, mapAt, textAt } from '../read-path.ts'

/** Fills in what a pod's spec has depending on other fields, in pods and in templates. */
export function defaultPodSpec(spec: unknown): void {
  if (!isObject(spec)) return
  for (const container of allContainers(spec)) {
    container['imagePullPolicy'] ??= pullPolicyOf(textAt(container, 'image'))
  }
  for (const volume of itemsAt(spec, 'volumes')) {
    if (Object.keys(volume).every((field) => field === 'name')) volume['emptyDir'] = {}
  }
  // Two names of the same field; Kubernetes always writes the old name as well.
  const account = spec['serviceAccountName'] ?? spec['serviceAccount']
  if (account) Object.assign(spec, { serviceAccountName: account, serviceAccount: account })
  if (spec['hostNetwork'] === true) {
    for (const container of allContainers(spec)) {
      for (const port of itemsAt(container, 'ports')) port['hostPort'] ??= port['containerPort']
    }
  }
}

/** Fills in a Pod: besides its spec, requests follow limits. */
export function defaultPod(pod: UnknownObject): void {
  const { spec } = pod
  defaultPodSpec(spec)
  if (!isObject(spec)) return
  spec['enableServiceLinks'] ??= true
  for (const container of [...itemsAt(spec, 'containers'), ...itemsAt(spec, 'initContainers')]) {
    const limits = mapAt(container, 'resources.limits')
    if (Object.keys(limits).length === 0) continue
    const resources = mapAt(container, 'resources')
    resources['requests'] = { ...limits, ...mapAt(resources, 'requests') }
  }
}

function allContainers(spec: JsonObject): JsonObject[] {
  return ['containers', 'initContainers', 'ephemeralContainers'].flatMap((field) => itemsAt(spec, field))
}

/** Only what is named `latest`, or not at all, is pulled each time. */
function pullPolicyOf(image: string): string {
  if (image.includes('@')) return 'IfNotPresent'
  const tag = /:([^/:]*)$/.exec(image)?.[1] ?? 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}
