/** Parts of a console for tests: a fleet to change by hand, no built files, and an API that knows given tokens. */
import { ApiError } from '../../core/errors.ts'
import type { ConsoleAssets } from '../../hub/console/console-assets.ts'
import { createFleetFeed } from '../../hub/console/fleet-feed.ts'
import type { FleetRow } from '../../hub/console/fleet-row.ts'
import type { FleetView } from '../../hub/console/fleet-view.ts'
import type { UserApi } from '../../hub/console/user-api.ts'

/** A row that is Ready. */
export function rowOf(name: string, fields: Partial<FleetRow> = {}): FleetRow {
  return {
    name,
    state: 'Ready',
    isApart: false,
    isHeard: true,
    since: 1_700_000_000,
    seen: 0,
    certificate: 1_800_000_000,
    ready: 1,
    bundles: 1,
    version: 'v1.33.2',
    agent: '0.1.0',
    waitsFor: '',
    badges: '',
    message: '',
    labels: {},
    ...fields,
  }
}

/** A view whose rows a test puts. */
export function viewForTests() {
  const listeners = new Set<(plural: string) => void>()
  const feed = createFleetFeed('epoch')
  const view: FleetView = {
    feed,
    maintenance: () => undefined,
    plurals: ['rollouts'],
    facts: () => ({ clusters: [], reports: [], assignments: [], bundles: [], placements: [], rollouts: [] }),
    onChange: (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    run: async () => {},
  }
  return {
    view,
    listeners,
    put: (row: FleetRow) => {
      feed.put(row)
      for (const listener of listeners) listener('clusters')
    },
  }
}

/** Nothing was built. */
export const noAssets: ConsoleAssets = {
  prepare: () => {},
  get: async () => undefined,
  problem: async () => 'The console is being built.',
  close: () => {},
}

/** An API that accepts no credentials. */
export const refusingApi: UserApi = {
  transport: () => Promise.reject(new Error('no API')),
  whoAmI: () => Promise.reject(new ApiError('Unauthorized', 'Unauthorized')),
  may: async () => false,
  close: async () => {},
}
