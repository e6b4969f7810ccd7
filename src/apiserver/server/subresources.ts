import { isCertificateRequest } from '../strategies/certificate-approval.ts'
import type { Kind } from '../../kinds/define-kind.ts'

/** What is served below an object of a kind. */
export interface Subresource {
  readonly name: string
  /** As discovery lists them. */
  readonly verbs: readonly string[]
  /** What it speaks, when that is not the kind itself. */
  readonly responseKind?: { readonly group: string; readonly version: string; readonly kind: string }
}

const STATUS: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] }
const FINALIZE: Subresource = { name: 'finalize', verbs: ['update'] }
const SCALE: Subresource = {
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
}

const APPROVAL: Subresource = { name: 'approval', verbs: ['get', 'patch', 'update'] }

const TOKEN: Subresource = {
  name: 'token',
  verbs: ['create'],
  responseKind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
}

/** What a pod has below it that needs no kubelet. */
const POD: readonly Subresource[] = [
  { name: 'binding', verbs: ['create'], responseKind: { group: '', version: 'v1', kind: 'Binding' } },
  { name: 'ephemeralcontainers', verbs: ['get', 'patch', 'update'] },
  { name: 'eviction', verbs: ['create'], responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' } },
  { name: 'resize', verbs: ['get', 'patch', 'update'] },
]

/** The subresources of a kind, in the order of their names. */
export function subresourcesOf(kind: Kind): readonly Subresource[] {
  return [
    ...(isCertificateRequest(kind) ? [APPROVAL] : []),
    ...(kind.group === '' && kind.kind === 'Namespace' ? [FINALIZE] : []),
    ...(kind.group === '' && kind.kind === 'Pod' ? POD : []),
    ...(kind.subresources.scale ? [SCALE] : []),
    ...(kind.subresources.status ? [STATUS] : []),
    ...(kind.group === '' && kind.kind === 'ServiceAccount' ? [TOKEN] : []),
  ]
}

/** Whether a kind has a subresource of this name. */
export function servesSubresource(kind: Kind, name: string): boolean {
  return subresourcesOf(kind).some((subresource) => subresource.name === name)
}
