/**
 * The summary every gateway publishes: which clusters it heard, how long ago. One Lease-sized write per gateway every
 * ten seconds replaces a heartbeat per cluster. Ages are counted on the gateway's monotonic clock, and a gateway says
 * how long it has been listening, so that a hub that was down or slow marks no cluster offline (I-15).
 */
import type { Static } from 'typebox'
import { utf8 } from '../../core/bytes.ts'
import { Type } from '../../core/schema/typebox.ts'
import { parseJson } from '../validate.ts'

/** Where the gateways' Leases are. */
export const LIVENESS_NAMESPACE = 'flotilla-system'

/**
 * How many clusters one Lease speaks of: with ids as long as they may be, its annotation stays well below the 256 KiB
 * that an API server allows.
 */
export const LIVENESS_PAGE = 2500

/** The Lease of a gateway, or of a further page of its clusters. */
export function livenessLeaseName(gateway: string, page = 0): string {
  return page === 0 ? `flotilla-gateway-${gateway}` : `flotilla-gateway-${gateway}-${page}`
}

/** The label of these Leases. */
export const LIVENESS_LABEL = 'flotilla.dev/gateway'

/** The annotation that holds the summary. */
export const LIVENESS_ANNOTATION = 'flotilla.dev/last-seen'

/** How often the summary is published. */
export const LIVENESS_INTERVAL_MS = 10_000

/** The summary, as of the Lease's renewTime. */
export const Liveness = Type.Object({
  /** Seconds this gateway has been listening without a break. */
  up: Type.Integer({ minimum: 0 }),
  /** Cluster id → seconds since it was last heard. */
  seen: Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
  }),
})
export type Liveness = Static<typeof Liveness>

/** The annotation's text. */
export function formatLiveness(liveness: Liveness): string {
  return JSON.stringify(liveness)
}

/** Reads the annotation; a WireError when it is not a summary. */
export function parseLiveness(text: string): Liveness {
  return parseJson(Liveness, utf8(text), { what: 'liveness summary', maxBytes: 1024 * 1024 })
}
