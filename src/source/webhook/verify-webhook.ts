/**
 * Webhooks of git servers: checks that the sender knows the token. The content of a call is ignored; a call only
 * triggers a fetch.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../core/bytes.ts'

/** A check that reads a body in chunks. */
export interface WebhookCheck {
  update(chunk: Uint8Array): void
  isGenuine(): boolean
}

/** Keys of Rancher Fleet's webhook Secrets by the header that names the sender. Gitea sends GitHub's header, too. */
const FLEET_KEYS = [
  ['x-gitea-signature', 'gogs'],
  ['x-hub-signature-256', 'github'],
  ['x-hub-signature', 'bitbucket-server'],
  ['x-gitlab-token', 'gitlab'],
  ['authorization', 'azure-password'],
] as const

/** Keys of the Secret that may have the token of a call; the first that is there counts. */
export function tokenKeys(headers: Readonly<Record<string, string | undefined>>): readonly string[] {
  const own = FLEET_KEYS.find(([header]) => headers[header] !== undefined)
  return own ? ['token', own[1]] : ['token']
}

/**
 * Starts the check of one call. GitHub, Gitea and Bitbucket sign the body; GitLab sends the token itself, Azure DevOps
 * as the password of basic authentication. A call without any of these is refused.
 */
export function checkWebhook(headers: Readonly<Record<string, string | undefined>>, token: string): WebhookCheck {
  const plain = headers['x-gitlab-token'] ?? basicPassword(headers['authorization'])
  const signature = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(
    headers['x-hub-signature-256'] ??
      headers['x-gitea-signature'] ??
      headers['x-gogs-signature'] ??
      headers['x-hub-signature'] ??
      '',
  )?.[1]
  const hmac = createHmac('sha256', token)
  return {
    update: (chunk) => void hmac.update(chunk),
    isGenuine: () => {
      if (token === '') return false
      // The compared texts must have equal lengths, whatever was sent.
      if (signature !== undefined) return timingSafeEqual(hmac.digest(), Buffer.from(signature, 'hex'))
      return plain !== undefined && timingSafeEqual(sha256(plain), sha256(token))
    },
  }
}

function basicPassword(header: string | undefined): string | undefined {
  const match = /^basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? '')
  if (!match) return undefined
  const pair = Buffer.from(match[1]!, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}
