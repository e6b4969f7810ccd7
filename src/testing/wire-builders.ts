/** Builders for tests of the wire: a hub's trust, a document, a head, all from a number. */
import { seededKeys } from '../core/crypto/key-pair.ts'
import type { Ids } from '../core/ids.ts'
import { SUFFIX_ALPHABET } from '../core/ids.ts'
import type { ClusterDocument } from '../wire/document/cluster-document.ts'
import { createTrust, loadTrust } from '../wire/trust/hub-keys.ts'
import type { HubTrust } from '../wire/trust/hub-keys.ts'

/** 2026-01-01T00:00:00Z. */
export const WIRE_START = 1_767_225_600_000

/** Ids that count: the same start gives the same ids. */
export function countingIds(start = 1): Ids {
  let state = start * 2_654_435_761
  const next = () => {
    // A small linear generator: good enough to differ, simple enough to read.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state
  }
  const bytes = (n: number) => Uint8Array.from({ length: n }, () => next() >>> 24)
  return {
    bytes,
    uid: () => `00000000-0000-4000-8000-${Array.from(bytes(6), (b) => b.toString(16).padStart(2, '0')).join('')}`,
    suffix: (n) => Array.from(bytes(n), (byte) => SUFFIX_ALPHABET[byte % SUFFIX_ALPHABET.length]).join(''),
    fraction: () => next() / 2 ** 32,
  }
}

/** A hub's trust files and the trust loaded from them. */
export function buildTrust(
  seed = 1,
  endpoints = ['https://hub.example:7444'],
): { files: Record<string, string>; trust: HubTrust } {
  const ids = countingIds(seed)
  const files = createTrust({
    newKeyPair: seededKeys(ids),
    now: WIRE_START,
    serial: ids.bytes(16),
    endpoints,
    minAgentVersion: '0.1.0',
  })
  return { files, trust: loadTrust((name) => files[name]) }
}

/** A document of cluster `c-1`, first of its chain unless told. */
export function buildDocument(overrides: Partial<ClusterDocument> = {}): ClusterDocument {
  return {
    format: 'flotilla.dev/document/v1',
    clusterId: 'c-1',
    epoch: 1,
    revision: 1,
    issuedAt: '2026-01-01T00:00:00Z',
    requires: [],
    rules: { trustVersion: 1 },
    content: { entries: [], tombstones: [] },
    ...overrides,
  }
}
