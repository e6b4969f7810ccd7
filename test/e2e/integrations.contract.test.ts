/**
 * The GitHub action and the GitLab job as their files say, against a demo's hub, a clone of its repository and a fake
 * of each API.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOver } from '../../src/client/create-client.ts'
import { ServiceAccount } from '../../src/kinds/builtin/core.ts'
import { RBAC_KINDS } from '../../src/kinds/builtin/rbac.ts'
import { readYamlDocument } from '../../src/yaml/read/read-yaml.ts'
import { NO_FOLDER, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import { restOf, tokenOf } from './hub-rest.ts'

const ROOT = resolve(import.meta.dirname, '../..')

interface Comment {
  readonly id: number
  body: string
  readonly isOurs: boolean
}

/** Comments of one request, as both providers keep them; those of others may not be changed. */
async function provider(
  t: TestContext,
  paths: { readonly list: string; readonly one: RegExp; readonly token: string },
) {
  const comments: Comment[] = [{ id: 1, body: '<!-- flotilla-diff:fleet -->\nnot ours', isOurs: false }]
  const log: string[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const body = text === '' ? '' : (JSON.parse(text) as { body: string }).body
    const answer = (code: number, value: unknown) => {
      response.writeHead(code, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value))
    }
    const path = (request.url ?? '').split('?')[0]!
    const token = request.headers['authorization'] ?? request.headers['private-token']
    if (token !== paths.token) return answer(401, { message: 'Bad credentials' })
    log.push(`${request.method} ${path}`)
    if (request.method === 'GET' && path === paths.list) return answer(200, comments)
    if (request.method === 'POST' && path === paths.list) {
      const made = { id: comments.length + 1, body, isOurs: true }
      comments.push(made)
      return answer(201, made)
    }
    const found = comments.find(({ id }) => String(id) === paths.one.exec(path)?.[1])
    if (!found) return answer(404, { message: 'Not Found' })
    if (!found.isOurs) return answer(403, { message: 'Resource not accessible' })
    found.body = body
    return answer(200, found)
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, comments, log }
}

/**
 * A hub with two clusters, a clone of what it follows, and a kubeconfig with the rights of the README and no others.
 */
async function fleet(t: TestContext) {
  const state = { FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const demo = startFlotilla(t, ['demo', '--clusters', '2'], { env: state })
  const [said] = await demo.says(/^[^]*Try in another terminal:\n/)
  const path = (name: string) => new RegExp(`^ +${name} +(\\S+)$`, 'm').exec(said)![1]!
  for (let tries = 0; tries < 200; tries++) {
    const { stdout } = await runFlotilla(t, ['get', 'rollouts'], { env: state })
    if (stdout.includes('shop-g1')) break
    await sleep(250)
  }
  const clone = join(temporaryFolder(t), 'clone')
  execFileSync('git', ['clone', '--quiet', path('git'), clone])
  return { demo, clone, kubeconfig: await previewKubeconfig(t, path('kubeconfig')) }
}

async function previewKubeconfig(t: TestContext, admin: string): Promise<string> {
  const rest = await restOf(t, admin)
  const client = clientOver(rest)
  const readme = readFileSync(join(ROOT, 'integrations/README.md'), 'utf8').replaceAll('\\\n', '')
  const resources = /--verb=get,list --resource=(\S+)/.exec(readme)![1]!.split(',')
  const metadata = { name: 'fleet-preview' }
  const kindOf = (kind: string) => RBAC_KINDS.find((one) => one.kind === kind)!
  const rbac = 'rbac.authorization.k8s.io'
  const rules = resources.map((resource) => {
    const [plural = '', ...group] = resource.split('.')
    return { apiGroups: [group.join('.')], resources: [plural], verbs: ['get', 'list'] }
  })
  const at = { ...metadata, namespace: 'default' }
  await client.create(ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: at })
  const make = async (kind: string, fields: object) =>
    await client.create(kindOf(kind), { apiVersion: `${rbac}/v1`, kind, metadata, ...fields })
  await make('ClusterRole', { rules })
  await make('ClusterRoleBinding', {
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'fleet-preview' },
    subjects: [{ kind: 'ServiceAccount', ...at }],
  })
  return readFileSync(admin, 'utf8')
    .replace(/client-certificate-data: .*\n/, `token: ${await tokenOf(rest, 'fleet-preview')}\n`)
    .replace(/ *client-key-data: .*\n/, '')
}

/** Runs a line of a file with bash, as a runner does. */
function bash(line: string, options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }) {
  const { KUBECONFIG: _kubeconfig, NODE_TEST_CONTEXT: _context, ...inherited } = process.env
  return new Promise<{ code: number; out: string }>((done) => {
    const env = { ...inherited, FLOTILLA_STATE_DIR: NO_FOLDER, ...options.env }
    execFile('bash', ['-e', '-c', line], { cwd: options.cwd, env }, (error, stdout, stderr) => {
      done({ code: error ? Number(error.code ?? 1) : 0, out: `${stdout}${stderr}` })
    })
  })
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>
  readonly runs: { readonly steps: readonly { readonly run: string; readonly env: Readonly<Record<string, string>> }[] }
}

test('the GitHub action posts one comment, renews it, and fails on errors; the GitLab job posts a note', async (t) => {
  const { demo, clone, kubeconfig } = await fleet(t)
  const shop = join(clone, 'shop/base/shop.yaml')
  const original = readFileSync(shop, 'utf8')
  writeFileSync(shop, original.replace('replicas: 2', 'replicas: 3'))

  const hub = await provider(t, {
    list: '/repos/acme/apps/issues/7/comments',
    one: /^\/repos\/acme\/apps\/issues\/comments\/(\d+)$/,
    token: 'Bearer gh-token',
  })
  const folder = temporaryFolder(t)
  const file = (name: string, text = '') => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const action = readYamlDocument(readFileSync(join(ROOT, 'integrations/github-action/action.yml'), 'utf8'))
    .value as Action
  const [step] = action.runs.steps
  const asAction = async (inputs: Readonly<Record<string, string>>) => {
    const env = Object.fromEntries(
      Object.entries(step!.env).map(([name, text]) => [
        name,
        text.replace(
          /^\$\{\{ inputs\.([\w-]+) \}\}$/,
          (_all, input: string) => inputs[input] ?? action.inputs[input]!.default ?? '',
        ),
      ]),
    )
    return await bash(step!.run, {
      cwd: clone,
      env: {
        ...env,
        GITHUB_ACTION_PATH: join(ROOT, 'integrations/github-action'),
        GITHUB_API_URL: hub.url,
        GITHUB_REPOSITORY: 'acme/apps',
        GITHUB_EVENT_PATH: file('event.json', JSON.stringify({ pull_request: { number: 7, base: { ref: 'main' } } })),
        GITHUB_STEP_SUMMARY: file('summary.md'),
        GITHUB_OUTPUT: file('output'),
        RUNNER_TEMP: folder,
      },
    })
  }
  const given = { kubeconfig, 'github-token': 'gh-token' }
  const first = await asAction(given)
  assert.equal(first.code, 0, first.out)
  assert.match(first.out, /comment made on pull request 7/)
  assert.equal(hub.comments.length, 2)
  assert.match(hub.comments[1]!.body, /^<!-- flotilla-diff:fleet -->\n### flotilla diff: 1 bundle on 2 clusters\n/)
  assert.match(
    hub.comments[1]!.body,
    /\| 2 \| change \| Deployment shop\/shop: replicas 2→3 {1,2}\(store-01, store-02\) \|/,
  )
  assert.equal(hub.comments[0]!.body, '<!-- flotilla-diff:fleet -->\nnot ours')
  assert.equal(readFileSync(join(folder, 'output'), 'utf8'), 'differences=true\nclusters=2\ncannot-render=0\n')
  assert.match(readFileSync(join(folder, 'summary.md'), 'utf8'), /^### flotilla diff/)

  writeFileSync(shop, original.replace('replicas: 2', 'replica: 3'))
  writeFileSync(join(clone, 'shop/overlays/south/kustomization.yaml'), 'resources: [../../bsae]\n')
  const second = await asAction(given)
  assert.equal(second.code, 1, second.out)
  assert.match(second.out, /::(error|warning) file=shop\/base\/shop\.yaml,line=17,col=3,title=unknown-field::/)
  assert.equal(hub.comments.length, 2, 'the comment is renewed')
  assert.match(hub.comments[1]!.body, /\*\*1 cluster cannot be rendered\.\*\*/)
  assert.match(hub.comments[1]!.body, /there is no field replica in \.spec; did you mean replicas\?/)
  const wrong = await asAction({ ...given, validate: 'false', 'github-token': 'stolen' })
  assert.equal(wrong.code, 2)
  assert.match(wrong.out, /answered 401: [^]*give the job the permission `pull-requests: write`/)

  const lab = await provider(t, {
    list: '/projects/42/merge_requests/9/notes',
    one: /^\/projects\/42\/merge_requests\/9\/notes\/(\d+)$/,
    token: 'gl-token',
  })
  const template = readYamlDocument(readFileSync(join(ROOT, 'integrations/gitlab/flotilla-diff.yml'), 'utf8'))
    .value as {
    'flotilla-diff': { script: string[] }
  }
  // The job clones Flotilla to there.
  const builds = temporaryFolder(t)
  execFileSync('ln', ['-s', ROOT, join(builds, 'flotilla-cli')])
  const job = await bash(template['flotilla-diff'].script.join('\n'), {
    cwd: clone,
    env: {
      CI_API_V4_URL: lab.url,
      CI_PROJECT_ID: '42',
      CI_MERGE_REQUEST_IID: '9',
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      CI_BUILDS_DIR: builds,
      FLOTILLA_FAIL_ON: 'never',
      FLOTILLA_GITLAB_TOKEN: 'gl-token',
      FLOTILLA_KUBECONFIG_CONTENT: kubeconfig,
    },
  })
  assert.equal(job.code, 0, job.out)
  assert.match(lab.comments[1]!.body, /\*\*1 cluster cannot be rendered\.\*\*/)
  assert.deepEqual(lab.log, [
    'GET /projects/42/merge_requests/9/notes',
    'PUT /projects/42/merge_requests/9/notes/1',
    'POST /projects/42/merge_requests/9/notes',
  ])

  writeFileSync(shop, original)
  execFileSync('git', ['-C', clone, 'checkout', '--quiet', '.'])
  assert.equal((await asAction({ ...given, validate: 'false', 'fail-on': 'differences' })).code, 0)
  assert.match(hub.comments[1]!.body, /^<!-- flotilla-diff:fleet -->\n### flotilla diff: no differences\n/)

  await demo.stop('SIGINT')
})

test('an error of diff is never its exit code for differences', async (t) => {
  const file = join(temporaryFolder(t), 'kubeconfig')
  const nowhere = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'a', user: { token: 'x' } }],
    contexts: [{ name: 'flotilla', context: { cluster: 'a', user: 'a' } }],
  }
  writeFileSync(file, JSON.stringify(nowhere))
  const ended = await runFlotilla(t, ['diff', '--kubeconfig', file])
  assert.equal(ended.code, 2)
  assert.match(ended.stderr, /^error: \S+: cannot reach the hub: /)
  assert.equal((await runFlotilla(t, ['get', 'clusters', '--kubeconfig', file])).code, 1)
})
