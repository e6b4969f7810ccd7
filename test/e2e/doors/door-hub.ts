/** A hub as a process, and callers who want more of it than they may have. */
import assert from 'node:assert/strict'
import { request as httpsRequest, Agent } from 'node:https'
import { join } from 'node:path'
import { isDigest } from '../../../src/core/crypto/digest.ts'
import { createSeededIds } from '../../../src/sim/kernel/seeded-ids.ts'
import type { ApplicantHub } from '../../../src/testing/agents/hostile-agent.ts'
import { parseJoinCode } from '../../../src/wire/trust/join-code.ts'
import type { Rest } from '../../../src/client/rest.ts'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from '../flotilla-process.ts'
import type { Cleanup, FlotillaProcess } from '../flotilla-process.ts'
import { restOf, tokenOf } from '../hub-rest.ts'

const READY = /^flotilla hub ready: api (\S+) gateway (\S+) console (http:\/\/[^/\s]+)\S* kubeconfig (\S+)\n/

/** What a listener answered. */
export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** A request as a caller sends it. */
export interface DoorRequest {
  readonly body?: Uint8Array | string
  readonly type?: string
  readonly token?: string
  /** PEM, for the gateway. */
  readonly certificate?: string
  readonly key?: string
}

/** A running hub. */
export interface DoorHub {
  readonly process: FlotillaProcess
  readonly api: string
  readonly gateway: string
  readonly console: string
  /** The file with the administrator's kubeconfig, in the data directory. */
  readonly kubeconfig: string
  /** The API as the administrator. */
  readonly admin: Rest
  flotilla(...args: string[]): Promise<string>
  /** A service account with these rules in the whole hub and no more, as it asks the API. */
  account(name: string, rules: readonly object[]): Promise<Caller>
  /** The hub as an agent without a certificate sees it. */
  asApplicant(code: string): ApplicantHub
  /** Fails unless the hub answers and its process runs. */
  checkAlive(): Promise<void>
}

/** Asks the API; a patch is a merge patch unless told. */
export type Caller = (method: string, path: string, body?: unknown, type?: string) => Promise<Answer>

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

/** Starts a hub with all its listeners on loopback. */
export async function startDoorHub(t: Cleanup, args: readonly string[] = []): Promise<DoorHub> {
  const data = join(temporaryFolder(t), 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...args])
  const [, api = '', gateway = '', page = '', kubeconfig = ''] = await hub.says(READY)
  const admin = await restOf(t, kubeconfig)
  return {
    process: hub,
    api,
    gateway,
    console: page,
    kubeconfig,
    admin,
    flotilla: async (...words) => {
      const ended = await runFlotilla(t, [...words, '--kubeconfig', kubeconfig])
      assert.equal(ended.code, 0, ended.stderr)
      return ended.stdout
    },
    account: async (name, rules) => {
      const metadata = { name }
      const inDefault = { name, namespace: 'default' }
      const accounts = '/api/v1/namespaces/default/serviceaccounts'
      await post(admin, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inDefault })
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules }
      await post(admin, `${RBAC}/clusterroles`, role)
      await post(admin, `${RBAC}/clusterrolebindings`, {
        ...role,
        kind: 'ClusterRoleBinding',
        rules: undefined,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', ...inDefault }],
      })
      const token = await tokenOf(admin, name)
      return async (
        method,
        path,
        body,
        type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      ) => send(method, `${api}${path}`, { token, type, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    },
    asApplicant: (code) => {
      const { root } = parseJoinCode(code)
      assert.ok(isDigest(root))
      return {
        ids: createSeededIds(code),
        trust: { root: { keyId: root } },
        ask: (method, path, { body }) => send(method, `${gateway}${path}`, { body }),
      }
    },
    checkAlive: async () => {
      assert.equal((await send('GET', `${api}/version`)).status, 200, hub.logged())
    },
  }
}

async function post(rest: Rest, path: string, body: unknown): Promise<void> {
  await rest.json({ method: 'POST', path, body })
}

const agent = new Agent({ keepAlive: true, maxSockets: 12, rejectUnauthorized: false })

/** Sends one request as it is; no certificate of a server is checked. */
export function send(method: string, url: string, by: DoorRequest = {}): Promise<Answer> {
  const { body, type, token, certificate, key } = by
  return new Promise((resolve, reject) => {
    const headers = {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    }
    const own = certificate === undefined ? { agent } : { cert: certificate, key, agent, rejectUnauthorized: false }
    const request = httpsRequest(url, { method, headers, ...own }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      const { statusCode: status = 0, headers: told } = response
      response.on('end', () => resolve({ status, text, headers: told })).on('error', reject)
    })
    request.on('error', reject).end(body)
  })
}
