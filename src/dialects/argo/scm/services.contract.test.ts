/** GitHub, GitLab and Gitea over real sockets, against servers that answer as their documentation says. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../core/json.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { createHttpGet } from '../../../source/http-get.ts'
import type { PullRequest, ScmRepository } from '../applicationset/generate-inputs.ts'
import { askService } from './ask-service.ts'
import type { ServiceQuestion } from './ask-service.ts'

type Answer = { readonly status?: number; readonly body: unknown; readonly next?: string; readonly location?: string }

/** A body whose first byte comes, and no end. */
const ENDLESS = Symbol('endless')

/** A server; answers by path and query, with the token it saw. */
async function serve(
  t: TestContext,
  answers: Readonly<Record<string, Answer>>,
  configMaps: Record<string, Record<string, string>> = {},
  clock: Clock = systemClock,
) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? '-'}`)
    request.on('data', (bytes: Buffer) => void seen.push(`${request.method} ${bytes.toString()}`))
    const answer = answers[request.url!] ?? { status: 404, body: { message: 'Not Found' } }
    response.statusCode = answer.status ?? 200
    if (answer.next !== undefined)
      response.setHeader('link', `<${origin()}${answer.next}>; rel="next", <x>; rel="last"`)
    if (answer.location !== undefined) response.setHeader('location', answer.location)
    response.setHeader('content-type', 'application/json')
    if (answer.body === ENDLESS) return void response.write(' ')
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
  })
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  const { signal } = new AbortController()
  const ask = (kind: ServiceQuestion['kind'], generator: JsonObject) =>
    askService(
      { kind, generator, set: 'fleet' },
      {
        httpGet: createHttpGet({ subject: 'Sources', flag: '--source-hosts', isLoopbackOpen: true }),
        token: (secret, key) =>
          Promise.resolve(secret === 'scm' ? { token: `t-${key}` } : { problem: `there is no Secret ${secret}` }),
        pluginToken: (secret, key) =>
          Promise.resolve(
            secret === 'none' ? { problem: `there is no Secret ${secret}` } : { token: `${secret} ${key}` },
          ),
        configMap: (name) => Promise.resolve(configMaps[name]),
        clock,
        signal,
      },
    )
  return { origin, ask, seen }
}

const TOKEN = { tokenRef: { secretName: 'scm', key: 'k' } }
const pull = (number: number, labels: string[] = []) => ({
  number,
  title: `Title ${number}`,
  head: { ref: `feature-${number}`, sha: 'a'.repeat(40) },
  base: { ref: 'main' },
  labels: labels.map((name) => ({ name })),
  user: { login: 'anna' },
})
const EXPECTED: PullRequest = {
  number: 1,
  title: 'Title 1',
  branch: 'feature-1',
  targetBranch: 'main',
  headSHA: 'a'.repeat(40),
  labels: ['preview'],
  author: 'anna',
}
const shown = (answer: unknown) =>
  (answer as readonly ScmRepository[]).map(({ hasPath, ...one }) => ({ ...one, has: ['a/b', 'c'].filter(hasPath) }))

test('GitHub: pull requests with these labels, over pages', async (t) => {
  const at = '/api/v3/repos/acme/web/pulls?per_page=100'
  const { origin, ask, seen } = await serve(t, {
    [at]: { body: [pull(1, ['preview']), pull(2)], next: `${at}&page=2` },
    [`${at}&page=2`]: { body: [pull(3, ['preview', 'x'])] },
  })
  const github = { owner: 'acme', repo: 'web', api: origin(), labels: ['preview'], ...TOKEN }
  const answer = (await ask('pullRequest', { github })) as readonly PullRequest[]
  assert.deepEqual(answer[0], EXPECTED)
  assert.deepEqual(
    answer.map(({ number }) => number),
    [1, 3],
  )
  assert.deepEqual(seen, [`${at} Bearer t-k`, `${at}&page=2 Bearer t-k`])
  const none = await ask('pullRequest', { github: { owner: 'acme', repo: 'none', api: `${origin()}/api/v3` } })
  assert.deepEqual(none, {
    failure: `${origin()}/api/v3/repos/acme/none/pulls does not exist, or the token may not see it`,
    isNotFound: true,
  })
})

test('GitHub: repositories with their branches and paths; archived ones and empty ones are left out', async (t) => {
  const repository = (name: string, more: object = {}) => ({
    name,
    id: 7,
    clone_url: `https://git/${name}`,
    ssh_url: `git@git:${name}`,
    default_branch: 'main',
    topics: ['web'],
    archived: false,
    ...more,
  })
  const main = { name: 'main', commit: { sha: 'b'.repeat(40) } }
  const { origin, ask } = await serve(t, {
    '/api/v3/orgs/acme/repos?per_page=100': {
      body: [repository('web'), repository('old', { archived: true }), repository('empty')],
    },
    '/api/v3/repos/acme/web/branches/main': { body: main },
    '/api/v3/repos/acme/web/branches?per_page=100': { body: [main, { ...main, name: 'dev/x' }] },
    '/api/v3/repos/acme/web/contents/a/b?ref=main': { body: {} },
    '/api/v3/repos/acme/web/contents/c?ref=dev%2Fx': { body: [] },
  })
  const filters = [{ pathsExist: ['a/b/'], pathsDoNotExist: ['c'] }]
  const github = { organization: 'acme', api: origin(), excludeArchivedRepos: true }
  const found = { organization: 'acme', repository: 'web', repositoryId: 7, sha: 'b'.repeat(40), labels: ['web'] }
  assert.deepEqual(shown(await ask('scmProvider', { github, filters })), [
    { ...found, url: 'git@git:web', branch: 'main', has: ['a/b'] },
  ])
  const all = { github: { ...github, allBranches: true }, filters, cloneProtocol: 'https' }
  const answered = await ask('scmProvider', all)
  assert.deepEqual(answered, {
    failure: `${origin()}/api/v3/repos/acme/empty/branches does not exist, or the token may not see it`,
    isNotFound: true,
  })
})

test('GitLab: merge requests and projects', async (t) => {
  const { origin, ask, seen } = await serve(t, {
    '/api/v4/projects/acme%2Fweb/merge_requests?per_page=100&state=opened&labels=preview': {
      body: [
        {
          iid: 1,
          title: 'Title 1',
          source_branch: 'feature-1',
          target_branch: 'main',
          sha: 'a'.repeat(40),
          labels: ['preview'],
          author: { username: 'anna' },
        },
      ],
    },
    '/api/v4/groups/acme/projects?per_page=100&include_subgroups=true&with_shared=true&topic=web&archived=false': {
      body: [
        {
          id: 9,
          path: 'web',
          namespace: { full_path: 'acme/sub' },
          ssh_url_to_repo: 'git@git:web',
          http_url_to_repo: 'https://git/web',
          default_branch: 'main',
          topics: ['web'],
        },
        { id: 10, path: 'empty', namespace: { full_path: 'acme' }, default_branch: null, topics: [] },
      ],
    },
    '/api/v4/projects/9/repository/branches/main': { body: { name: 'main', commit: { id: 'c'.repeat(40) } } },
    '/api/v4/projects/9/repository/tree?path=a&ref=main&per_page=100': { body: [{ path: 'a/b' }] },
    '/api/v4/projects/9/repository/tree?path=&ref=main&per_page=100': { body: [{ path: 'd' }] },
  })
  const gitlab = { project: 'acme/web', api: origin(), pullRequestState: 'opened', labels: ['preview'], ...TOKEN }
  assert.deepEqual(await ask('pullRequest', { gitlab }), [EXPECTED])
  assert.match(seen[0]!, / Bearer t-k$/)
  const group = { group: 'acme', api: origin(), includeSubgroups: true, topic: 'web' }
  const filters = [{ pathsExist: ['a/b'] }, { pathsDoNotExist: ['c'] }]
  assert.deepEqual(shown(await ask('scmProvider', { gitlab: group, filters, cloneProtocol: 'https' })), [
    {
      organization: 'acme/sub',
      repository: 'web',
      repositoryId: 9,
      url: 'https://git/web',
      branch: 'main',
      sha: 'c'.repeat(40),
      labels: ['web'],
      has: ['a/b'],
    },
  ])
})

test('Gitea: pull requests and repositories', async (t) => {
  const { origin, ask, seen } = await serve(t, {
    '/api/v1/repos/acme/web/pulls?state=open&limit=50': { body: [pull(1, ['preview'])] },
    '/api/v1/orgs/acme/repos?limit=50': {
      body: [{ name: 'web', id: 3, ssh_url: 'git@git:web', clone_url: 'https://git/web', default_branch: 'main' }],
    },
    '/api/v1/repos/acme/web/branches/main': { body: { name: 'main', commit: { id: 'd'.repeat(40) } } },
  })
  const gitea = { owner: 'acme', repo: 'web', api: origin(), labels: ['preview'], ...TOKEN }
  assert.deepEqual(await ask('pullRequest', { gitea }), [EXPECTED])
  assert.match(seen[0]!, / token t-k$/)
  const [one] = shown(await ask('scmProvider', { gitea: { owner: 'acme', api: origin() } }))
  assert.deepEqual([one?.url, one?.sha, one?.labels], ['git@git:web', 'd'.repeat(40), []])
})

test('a plugin is told the set and its input, with the token that its ConfigMap names', async (t) => {
  const configMaps: Record<string, Record<string, string>> = {}
  const EXECUTE = '/base/api/v1/getparams.execute'
  const answers: Record<string, Answer> = { [EXECUTE]: { body: { output: { parameters: [{ key: 1 }, { b: [] }] } } } }
  const { origin, ask, seen } = await serve(t, answers, configMaps)
  const generator = { configMapRef: { name: 'plugin' }, input: { parameters: { team: 'pos' } } }
  const failure = async (data?: Record<string, string>) => {
    if (data) configMaps['plugin'] = data
    const answer = await ask('plugin', generator)
    return 'failure' in answer ? answer.failure : JSON.stringify(answer)
  }
  assert.equal(await failure(), 'plugin.configMapRef: there is no ConfigMap "plugin"')
  assert.equal(await failure({ token: '$a:b' }), 'ConfigMap plugin has no baseUrl')
  const baseUrl = `${origin()}/base/`
  assert.match(await failure({ baseUrl, token: 'plain' }), /must be \$SECRET:KEY, or \$KEY of argocd-secret/)
  assert.match(await failure({ baseUrl, token: '$server.secretkey' }), /only keys that begin with plugin\. are sent/)
  assert.match(await failure({ baseUrl, token: '$argocd-secret:admin.password' }), /only keys that begin with plugin\./)
  assert.match(await failure({ baseUrl, token: '$none:k' }), /the token of ConfigMap plugin: there is no Secret none/)
  const far = { baseUrl: 'http://plugin.example.com', token: '$own:k' }
  assert.match(await failure(far), /is not https, and a token would be readable on the way/)
  assert.deepEqual(seen, [], 'nothing was sent')
  assert.equal(await failure({ baseUrl, token: '$own:k' }), '[{"key":1},{"b":[]}]')
  assert.equal(await failure({ baseUrl, token: '$plugin.fleet.token' }), '[{"key":1},{"b":[]}]')
  const body = 'POST {"applicationSetName":"fleet","input":{"parameters":{"team":"pos"}}}'
  const sent = ['own k', 'argocd-secret plugin.fleet.token'].flatMap((token) => [`${EXECUTE} Bearer ${token}`, body])
  assert.deepEqual(seen, sent)
  answers[EXECUTE] = { body: { output: {} } }
  assert.match(await failure(), /sent a response without a list output\.parameters/)
  answers[EXECUTE] = { status: 403, body: {} }
  assert.match(await failure(), /refuses the token \(403\)/)
})

test('a service that misbehaves, or a generator that cannot be asked, is a sentence', async (t) => {
  const other = await serve(t, { '/stolen': { body: [] } })
  const { origin, ask } = await serve(t, {
    '/api/v3/repos/o/html/pulls?per_page=100': { body: '<html>' },
    '/api/v3/repos/o/map/pulls?per_page=100': { body: { a: 1 } },
    '/api/v3/repos/o/no/pulls?per_page=100': { status: 403, body: {} },
    '/api/v3/repos/o/broken/pulls?per_page=100': { status: 500, body: {} },
    '/api/v3/repos/o/loop/pulls?per_page=100': { body: [], next: '/api/v3/repos/o/loop/pulls?per_page=100' },
    '/api/v3/repos/o/moved/pulls?per_page=100': { status: 301, body: [], location: `${other.origin()}/stolen` },
    '/api/v3/repos/o/odd/pulls?per_page=100': { body: [{ number: 'x', labels: 'y' }, 1, null] },
  })
  const failure = async (generator: JsonObject, kind: ServiceQuestion['kind'] = 'pullRequest') => {
    const answer = await ask(kind, generator)
    return 'failure' in answer ? answer.failure : JSON.stringify(answer)
  }
  const of = (repo: string) => ({ github: { owner: 'o', repo, api: origin(), ...TOKEN } })
  assert.match(await failure(of('html')), /sent a response that is not JSON/)
  assert.match(await failure(of('map')), /sent a response that is not a list/)
  assert.match(await failure(of('no')), /refuses the token \(403\)/)
  assert.match(await failure(of('broken')), /answered 500/)
  assert.match(await failure(of('loop')), /has more than 50 pages/)
  assert.equal(
    await failure(of('odd')),
    '[{"number":0,"title":"","branch":"","targetBranch":"","headSHA":"","labels":[],"author":""}]',
  )
  await failure(of('moved'))
  assert.deepEqual(other.seen, ['/stolen -'], 'the token stays with the first server')
  assert.match(
    await failure({ github: { owner: 'o', repo: '../../x', api: origin() } }),
    /repos\/o\/\.\.%2F\.\.%2Fx\/pulls does not exist/,
  )
  assert.match(await failure({ github: { repo: 'x' } }), /owner is required/)
  assert.match(
    await failure({ github: { owner: 'o', repo: 'x', appSecretName: 'a' } }),
    /appSecretName is not supported; use tokenRef/,
  )
  assert.match(await failure({ gitlab: { project: 'x', insecure: true } }), /insecure is not supported/)
  assert.match(
    await failure({ bitbucket: {} }),
    /pullRequest\.bitbucket is not supported; github, gitlab and gitea are/,
  )
  assert.match(await failure({}, 'scmProvider'), /scmProvider must have one of github, gitlab, gitea/)
  const missing = { github: { owner: 'o', repo: 'x', tokenRef: { secretName: 'none', key: 'k' } } }
  assert.match(await failure(missing), /pullRequest\.github\.tokenRef: there is no Secret none/)
  const plain = { github: { owner: 'o', repo: 'x', api: 'http://git.example.com', ...TOKEN } }
  assert.match(await failure(plain), /http:\/\/git\.example\.com is not https, and a token would be readable/)
  assert.match(await failure({ gitea: { owner: 'o', repo: 'x', api: 'nothing' } }), /is not an address of an API/)
  assert.match(
    await failure({ github: { owner: 'o', repo: 'x', api: 'http://169.254.169.254/' } }),
    /169\.254\.169\.254/,
  )
})

test('a response that never ends is given up, and lists have limits', { timeout: 20_000 }, async (t) => {
  const waited: number[] = []
  // Time passes when the service has sent the first byte.
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms) => {
      waited.push(ms)
      while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
    },
  }
  const pulls = '/api/v3/repos/o/slow/pulls?per_page=100'
  const { origin, ask, seen } = await serve(t, { [pulls]: { body: ENDLESS } }, {}, clock)
  assert.deepEqual(await ask('pullRequest', { github: { owner: 'o', repo: 'slow', api: origin() } }), {
    failure: `${origin()} took more than 30 s for a response; ask for less, or make the service faster`,
    isNotFound: false,
  })
  assert.deepEqual(waited, [30_000])
  const many = '/api/v3/repos/o/many/pulls?per_page=100'
  const other = await serve(t, { [many]: { body: Array.from({ length: 50_001 }, () => ({})) } })
  assert.deepEqual(await other.ask('pullRequest', { github: { owner: 'o', repo: 'many', api: other.origin() } }), {
    failure: `the list of ${other.origin()}/api/v3/repos/o/many/pulls has more than 8388608 characters or 50000 items in sum: use a filter`,
    isNotFound: false,
  })
})
