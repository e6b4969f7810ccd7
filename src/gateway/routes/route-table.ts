/** Every route of the gateway. What is not in this table does not exist for agents. */
import { ROUTES } from '../../wire/link/frames.ts'
import type { createAgentBundleHandler } from './agent-bundle.ts'
import type { createContentHandlers } from './content.ts'
import type { DocumentHandlers } from './document.ts'
import type { createEnrolmentHandlers } from './enrolment.ts'
import type { createFollowHandlers } from './follow.ts'
import type { createReportHandlers } from './report.ts'
import type { ClusterRoute, RouteTable } from './route.ts'
import type { createTrustHandler } from './trust.ts'

export interface Handlers
  extends
    DocumentHandlers,
    ReturnType<typeof createContentHandlers>,
    ReturnType<typeof createEnrolmentHandlers>,
    ReturnType<typeof createFollowHandlers>,
    ReturnType<typeof createReportHandlers> {
  readonly trust: ReturnType<typeof createTrustHandler>
  readonly agentBundle: ReturnType<typeof createAgentBundleHandler>
  /** Sends the answer of a handler at the cluster's bandwidth. */
  readonly paced: (handle: ClusterRoute['handle']) => ClusterRoute['handle']
}

// Rows of the same class share its part of the load limits, see wire/link/load-shedding.ts.
const ANYONE = { caller: 'Anyone' } as const
const SIGNED = { caller: 'IdentityKey' } as const
const FOLLOW = { caller: 'Cluster', class: 'follow' } as const
const REPORT = { caller: 'Cluster', class: 'report' } as const

export function routeTable(by: Handlers): RouteTable {
  return {
    trust: { method: 'GET', path: ROUTES.trust, ...ANYONE, cost: 1, handle: by.trust },
    // The program is a megabyte.
    agentBundle: { method: 'GET', path: ROUTES.agentBundle, ...ANYONE, cost: 10, handle: by.agentBundle },
    enrol: { method: 'POST', path: ROUTES.enrol, ...SIGNED, handle: by.enrol },
    renew: { method: 'POST', path: ROUTES.renew, ...SIGNED, handle: by.renew },
    last: { method: 'POST', path: ROUTES.last, ...SIGNED, handle: by.last },
    follow: { method: 'GET', path: ROUTES.follow, ...FOLLOW, handle: by.follow, handleDecommissioned: by.lastHead },
    document: {
      method: 'GET',
      path: ROUTES.document,
      ...FOLLOW,
      handle: by.paced(by.document),
      handleDecommissioned: by.document,
    },
    blob: { method: 'GET', path: ROUTES.blob, ...FOLLOW, handle: by.paced(by.blob) },
    set: { method: 'GET', path: ROUTES.set, ...FOLLOW, handle: by.paced(by.set) },
    held: { method: 'POST', path: ROUTES.held, ...FOLLOW, handle: by.held },
    report: { method: 'POST', path: ROUTES.report, ...REPORT, handle: by.report },
    checkIn: { method: 'POST', path: ROUTES.checkIn, ...REPORT, handle: by.checkIn },
  }
}
