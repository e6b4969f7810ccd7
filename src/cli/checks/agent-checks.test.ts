import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentFacts } from '../../plan/fleet/agent-diagnostics.ts'
import { agentChecks } from './agent-checks.ts'

const NOW = 1_800_000_000_000
const DAY = 86_400_000
const MB = 1024 * 1024
const GATEWAY = 'https://hub.example:7444'

const WELL: AgentFacts = {
  version: '0.1.0',
  data: { folder: '/var/agent', isOpen: false, freeBytes: 2048 * MB },
  identity: {
    clusterId: 'c-1',
    clusterName: 'store-1',
    root: 'sha256:0',
    trust: { version: 1, leastVersion: '0.1.0', isTooOld: false },
    certificate: { endsMs: NOW + 14 * DAY, renewMs: NOW + 9 * DAY, isOfHub: true },
  },
  gateways: [{ endpoint: GATEWAY, skewMs: 400, newerTrust: 0 }],
  document: { held: { epoch: 1, revision: 7, lacking: [] } },
  cluster: {
    server: 'https://10.0.0.1:6443',
    version: 'v1.36.3',
    lacking: [],
    missed: [],
    executors: [{ executor: 'shop/deployer', bundles: ['default/web'], asked: 4, denied: [] }],
    unasked: 0,
  },
}

function linesOf(facts: Partial<AgentFacts>): string[] {
  const categories = agentChecks({ ...WELL, ...facts }, NOW)
  return categories.flatMap(({ checks }) => checks.map(({ id, result, text }) => `${result} ${id}: ${text}`))
}

const problemsOf = (facts: Partial<AgentFacts>): string[] => linesOf(facts).filter((line) => !line.startsWith('ok '))

test('a well agent passes every check', () => {
  assert.deepEqual(linesOf({}), [
    'ok data-folder: /var/agent can be read by its owner only',
    'ok data-space: 2048.0 MB free',
    'ok joined: joined as store-1',
    'ok agent-version: version 0.1.0; the hub requires 0.1.0 or newer',
    'ok certificate: the certificate is valid for 14d and is renewed in 9d',
    'ok gateway-reachable: https://hub.example:7444 answers',
    'ok gateway-root: the server is the hub of the join code',
    'ok clock-skew: the clock of the hub agrees with the clock of this machine',
    'ok document: the agent has revision 1/7',
    'ok cluster-reachable: https://10.0.0.1:6443 answers, Kubernetes v1.36.3',
    'ok agent-rights: the agent may store its state',
    'ok executor-rights: ServiceAccount shop/deployer may change the objects of default/web (4 permissions)',
  ])
})

test('each problem of the directory and the identity is reported', () => {
  const { identity } = WELL
  const cases: readonly (readonly [Partial<AgentFacts>, readonly string[]])[] = [
    [
      { data: { folder: '/x', trouble: 'ENOENT: gone' }, identity: {}, gateways: [], document: {} },
      ['failed data-folder: /x: ENOENT: gone'],
    ],
    [
      { data: { folder: '/x', isOpen: true, freeBytes: 100 * MB } },
      [
        'warning data-folder: /x contains the keys of the agent and can be read by other users',
        'warning data-space: 100.0 MB free',
      ],
    ],
    [{ data: { folder: '/x', isOpen: false, freeBytes: 9 * MB } }, ['failed data-space: 9.0 MB free']],
    [{ identity: { trouble: 'has not joined' }, gateways: [], document: {} }, ['failed joined: has not joined']],
    [{ identity: { root: 'sha256:0' } }, ['failed joined: the hub has not answered the request to join yet']],
    [
      { identity: { ...identity, trust: { version: 2, leastVersion: '0.2.0', isTooOld: true } } },
      ['failed agent-version: version 0.1.0; the hub requires 0.2.0 or newer'],
    ],
    [{ identity: { clusterId: 'c-1' } }, ['failed certificate: no certificate: the cluster waits for acceptance']],
    [
      { identity: { ...identity, certificate: { endsMs: NOW - DAY, renewMs: NOW - 5 * DAY, isOfHub: true } } },
      ['failed certificate: the certificate expired 24h ago; the agent renews it when it reaches the hub'],
    ],
    [
      { identity: { ...identity, certificate: { endsMs: NOW + 2 * DAY, renewMs: NOW - 3 * DAY, isOfHub: true } } },
      ['warning certificate: the certificate is valid for 2d and should have been renewed 3d ago'],
    ],
    [
      { identity: { ...identity, certificate: { endsMs: NOW + DAY, renewMs: NOW, isOfHub: false } } },
      ['warning certificate: the certificate was issued by a CA that the hub no longer uses; the agent renews it'],
    ],
  ]
  for (const [facts, lines] of cases) assert.deepEqual(problemsOf(facts), lines)
})

test('each problem of the connection to the hub is reported', () => {
  const cases: readonly (readonly [Partial<AgentFacts['gateways'][number]>, readonly string[]])[] = [
    [{ trouble: 'connect ECONNREFUSED' }, [`failed gateway-reachable: ${GATEWAY}: connect ECONNREFUSED`]],
    [
      { proxy: 'http://proxy:3128/', trouble: 'answered 403' },
      [`failed proxy: ${GATEWAY} through the proxy http://proxy:3128/: answered 403`],
    ],
    [
      { otherRoot: 'this is not the hub that made the code' },
      ['failed gateway-root: this is not the hub that made the code'],
    ],
    [
      { isUnknownCa: true },
      [
        'warning gateway-root: the server is the hub of the join code, with a CA that is new to this agent; the agent accepts it at its next check-in',
      ],
    ],
    [{ skewMs: -90_000 }, ['warning clock-skew: the clock of the hub is 90s behind the clock of this machine']],
    [{ skewMs: 9_000, newerTrust: 2 }, []],
  ]
  for (const [facts, lines] of cases) {
    assert.deepEqual(problemsOf({ gateways: [{ endpoint: GATEWAY, skewMs: 0, ...facts }] }), lines)
  }
  assert.match(
    linesOf({ gateways: [{ endpoint: GATEWAY, newerTrust: 2, skewMs: 0 }] }).join(),
    /2 newer trust versions wait/,
  )
  assert.deepEqual(problemsOf({ gateways: [{ endpoint: GATEWAY }] }), ['warning clock-skew: the hub sends no date'])
})

test('a document that is refused, and rights that are lacking, are told', () => {
  assert.deepEqual(problemsOf({ document: { trouble: 'bad signature' } }), ['failed document: bad signature'])
  assert.deepEqual(
    problemsOf({
      document: {
        held: { epoch: 1, revision: 2, lacking: ['sets/v9'] },
        refusal: { reason: 'MissingFeature', message: 'requires sets/v10' },
      },
    }),
    [
      'failed document-refused: the document requires sets/v9, which this version does not support',
      'failed document-refused: the agent refuses the newest document (MissingFeature): requires sets/v10',
    ],
  )
  const right = (verb: string, resource: string, namespace?: string) => ({
    verb,
    resource,
    ...(namespace ? { namespace } : {}),
  })
  const { cluster } = WELL
  assert.deepEqual(problemsOf({ cluster: { server: 'x', trouble: 'refused' } }), [
    'failed cluster-reachable: x: refused',
  ])
  assert.deepEqual(
    problemsOf({
      cluster: {
        ...cluster,
        lacking: [right('get', 'configmaps', 'flotilla-agent'), right('list', 'configmaps', 'flotilla-agent')],
        missed: [right('list', 'nodes')],
        executors: [
          { bundles: ['a', 'b'], asked: 12, denied: ['b', 'c', 'd', 'e', 'f', 'g'].map((one) => right('patch', one)) },
          {
            executor: 'shop/blind',
            bundles: ['default/web'],
            asked: 6,
            denied: [],
            unwatched: [right('watch', 'jobs')],
          },
          { executor: 'shop/gone', bundles: ['default/web'], asked: 0, denied: [], trouble: 'may not impersonate' },
        ],
        unasked: 3,
      },
    }),
    [
      'failed agent-rights: the agent cannot store its state: it may not get, list configmaps in namespace flotilla-agent',
      'warning agent-rights: optional permissions are missing: list nodes',
      'failed executor-rights: the agent itself, for 2 bundles, may not patch b; patch c; patch d; patch e; patch f; and 1 more',
      'warning executor-rights: ServiceAccount shop/blind, for default/web, may not watch jobs: the agent reads the objects in turn and sees changes later',
      'failed executor-rights: ServiceAccount shop/gone, for default/web: may not impersonate',
      'warning executor-rights: 3 more permissions were not checked',
    ],
  )
})
