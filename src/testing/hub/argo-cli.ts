/** An Application on the real API server in memory, for tests of `flotilla argo`. */
import { systemClock } from '../../core/time/system-clock.ts'
import { Application } from '../../dialects/argo/kinds.ts'
import type { ApplicationStatus } from '../../dialects/argo/kinds.ts'
import { installDialects } from '../../hub/home/dialects.ts'
import { build } from '../fixtures/builders.ts'
import { createCliHub } from './cli-hub.ts'

/** The status of an Application that is Synced. */
export const STATUS: ApplicationStatus = {
  sync: { status: 'Synced', revision: 'abcdef0123' },
  health: { status: 'Healthy' },
  history: [{ id: 0, revision: 'abcdef0123', deployedAt: '2026-01-01T00:00:00Z', source: { targetRevision: 'main' } }],
  resources: [
    {
      version: 'v1',
      kind: 'ConfigMap',
      namespace: 'shop',
      name: 'web',
      status: 'Synced',
      health: { status: 'Healthy' },
    },
  ],
  operationState: {
    operation: { sync: {} },
    phase: 'Succeeded',
    startedAt: '2026-01-01T00:00:00Z',
    finishedAt: '2026-01-01T00:00:05Z',
  },
}

/** Starts it with the Application argocd/web. */
export async function startArgoCli(t: { after(fn: () => Promise<void>): void }, status: ApplicationStatus = STATUS) {
  const { client, connection, terminal, said } = createCliHub(t, { namespace: 'argocd' })
  const { signal } = new AbortController()
  await installDialects(['argo'], { client, clock: systemClock, signal })
  const spec = {
    project: 'default',
    source: { repoURL: 'https://git.example.com/apps', path: 'web', targetRevision: 'main' },
    destination: { name: 'store-1', namespace: 'shop' },
  }
  const made = await client.create(Application, build(Application, 'argocd/web', { spec }), { fieldManager: 'test' })
  const show = async (next: ApplicationStatus) => {
    const now = await client.get(Application, { namespace: 'argocd', name: made.metadata.name })
    await client.update(Application, { ...now, status: next }, { fieldManager: 'hub', subresource: 'status' })
  }
  await show(status)
  const input = (flags: object = {}) => ({ connection, terminal, signal, flags })
  return { client, input, said, show }
}
