import type { Kind } from './define-kind.ts'
import { Deployment } from './builtin/apps.ts'
import { Lease } from './builtin/coordination.ts'
import { ConfigMap, Event, Namespace, Secret, ServiceAccount } from './builtin/core.ts'
import { EventsEvent } from './builtin/events.ts'
import { RBAC_KINDS } from './builtin/rbac.ts'
import { REVIEW_KINDS } from './builtin/reviews.ts'

/** Kubernetes' own kinds that the embedded servers serve. */
export const BUILTIN_KINDS: readonly Kind[] = [
  Namespace,
  ConfigMap,
  Secret,
  ServiceAccount,
  Event,
  EventsEvent,
  Lease,
  Deployment,
  ...RBAC_KINDS,
  ...REVIEW_KINDS,
]
