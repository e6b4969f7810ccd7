// Tested by src/hub/http/argo-webhook.contract.test.ts
/** The door for webhooks of Argo CD, `/api/webhook`: pushes, and pull requests that generators look for. */
import { REFRESH_SET } from '../../dialects/argo/annotations.ts'
import { ApplicationSet, ARGO_NAMESPACE } from '../../dialects/argo/kinds.ts'
import { concernsSet } from '../../dialects/argo/webhook/concerned-sets.ts'
import { createRepositoryWebhook, ignoringGone, isOwnedByGroup, WEBHOOK_MANAGER } from './repository-webhook.ts'
import type { RepositoryWebhook, RepositoryWebhookOptions } from './repository-webhook.ts'

/** Creates the door. */
export function createArgoWebhook(options: RepositoryWebhookOptions): RepositoryWebhook {
  const { client, log } = options
  return createRepositoryWebhook(
    {
      // The path of Argo CD's API server.
      path: '/api/webhook',
      secret: { namespace: ARGO_NAMESPACE, name: 'argocd-secret' },
      keys: { GitHub: 'webhook.github.secret', GitLab: 'webhook.gitlab.secret', Gitea: 'webhook.gogs.secret' },
      // Argo CD reads only objects with this label, and so does the hub.
      isUsable: ({ metadata }) => metadata.labels?.['app.kubernetes.io/part-of'] === 'argocd',
      concerns: (source) => isOwnedByGroup(source, ApplicationSet.group),
      followPullRequest: async (event) => {
        const sets = (await client.list(ApplicationSet)).items.filter(({ spec }) =>
          concernsSet(spec['generators'], event),
        )
        const body = { metadata: { annotations: { [REFRESH_SET]: 'true' } } }
        for (const { metadata } of sets) {
          const key = { namespace: metadata.namespace ?? '', name: metadata.name }
          await ignoringGone(client.patch(ApplicationSet, key, { type: 'merge', body }, WEBHOOK_MANAGER))
        }
        log.info({ repository: event.url, sets: sets.length }, 'webhook of a pull request received')
      },
    },
    options,
  )
}
