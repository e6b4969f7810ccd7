// Tested by src/hub/http/fleet-webhook.contract.test.ts
/**
 * The door for webhooks of Rancher Fleet, `/`: one address for all GitRepos, with the secrets of Secret
 * `gitjob-webhook`. GitRepos with a webhookSecret have an address of their own.
 */
import { FLEET_GROUP } from '../../dialects/fleet/compile/read-git-repo.ts'
import { createRepositoryWebhook, isOwnedByGroup } from './repository-webhook.ts'
import type { RepositoryWebhook, RepositoryWebhookOptions } from './repository-webhook.ts'

/** Creates the door. */
export function createFleetWebhook(options: RepositoryWebhookOptions): RepositoryWebhook {
  return createRepositoryWebhook(
    {
      path: '/',
      secret: { namespace: 'cattle-fleet-system', name: 'gitjob-webhook' },
      keys: { GitHub: 'github', GitLab: 'gitlab', Gitea: 'gogs' },
      concerns: (source) => isOwnedByGroup(source, FLEET_GROUP) && source.spec.webhook === undefined,
    },
    options,
  )
}
