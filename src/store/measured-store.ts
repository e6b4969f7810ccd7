import type { Clock } from '../core/time/clock.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Store } from './store.ts'

const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** A store whose commits are counted and timed; the rest is the store's own. */
export function createMeasuredStore(store: Store, { clock, metrics }: { clock: Clock; metrics: Metrics }): Store {
  const commits = metrics.counter({
    name: 'flotilla_store_commits_total',
    help: 'Writes by result: committed, conflict (another writer was first) or failed.',
    labels: ['result'],
  })
  const seconds = metrics.histogram({
    name: 'flotilla_store_commit_seconds',
    help: 'How long a write takes until it is on disk.',
    buckets: COMMIT_BUCKETS,
  })
  const revision = metrics.gauge({ name: 'flotilla_store_revision', help: 'The newest revision.' })
  revision({}, store.revision())
  return {
    ...store,
    commit: async (write) => {
      const began = clock.monotonicMs()
      try {
        const result = await store.commit(write)
        commits({ result: result.ok ? 'committed' : 'conflict' }, 1)
        if (result.ok) revision({}, result.revision)
        return result
      } catch (caught) {
        commits({ result: 'failed' }, 1)
        throw caught
      } finally {
        seconds({}, (clock.monotonicMs() - began) / 1000)
      }
    },
  }
}
