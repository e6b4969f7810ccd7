/** `flotilla login` against a hub of its own: what is proven is written, and nothing else. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readYamlDocument } from '../../src/yaml/read/read-yaml.ts'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import { restOf, tokenOf } from './hub-rest.ts'

const PROD = `# mine
apiVersion: v1
kind: Config
current-context: prod
clusters: [{ name: prod, cluster: { server: 'https://prod.example' } }]
users: [{ name: ann, user: { token: old } }]
contexts: [{ name: prod, context: { cluster: prod, user: ann } }]
`

interface Config {
  readonly 'current-context': string
  readonly contexts: readonly { readonly name: string }[]
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[]
}

const configOf = (file: string) => readYamlDocument(readFileSync(file, 'utf8')).value as Config
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)

test('CVE-2024-58267, CVE-2025-67601: a token or a given kubeconfig becomes a context; what the hub does not know is not written', async (t) => {
  const data = join(temporaryFolder(t), 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE])
  const [, server = ''] = await hub.says(/ api (\S+) /)
  const admin = join(data, 'admin.kubeconfig')
  const token = await tokenOf(await restOf(t, admin), 'default')
  const home = temporaryFolder(t)
  const env = { HOME: home, XDG_STATE_HOME: join(home, 'state') }
  const file = join(home, '.kube/config')
  const run = async (args: readonly string[], more: { input?: string; env?: Record<string, string> } = {}) =>
    await runFlotilla(t, args, { ...more, env: { ...env, ...more.env } })
  const byToken = ['login', server, '--token-file', '-']
  const ca = ['--ca', join(data, 'keys/api-ca.crt')]

  const unknownCa = await run(byToken, { input: token })
  assert.equal(unknownCa.code, 4, unknownCa.stderr)
  assert.match(
    unknownCa.stderr,
    /^error: \S+: the certificate of the hub is not signed by a public CA: .*\nhint: give the CA of the hub with --ca FILE/,
  )
  const stolen = await run([...byToken, ...ca], { input: 'stolen' })
  assert.equal(stolen.code, 4, stolen.stderr)
  assert.match(stolen.stderr, /^error: \S+: not authenticated: .*\nhint: ask the operator of the hub for a new token/)
  assert.equal((await run(['login', server])).code, 2)
  assert.equal((await run(['login'])).code, 2)
  assert.equal((await run([...byToken, ...ca, '--context', '../x'], { input: token })).code, 2)
  assert.equal(existsSync(join(home, '.kube')) || existsSync(join(home, 'state')), false, 'nothing was written')

  mkdirSync(join(home, '.kube'))
  writeFileSync(file, PROD)
  const first = await run([...byToken, ...ca], { input: `${token}\n` })
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, /✔ logged in to https:\/\/\S+ as system:serviceaccount:default:default \(/)
  assert.match(first.stderr, /✔ context "flotilla" written to /)
  assert.match(first.stderr, /► .*flotilla status\n$/)
  const tokenFile = join(home, 'state/flotilla/credentials/flotilla.token')
  const config = configOf(file)
  assert.equal(config['current-context'], 'prod')
  assert.deepEqual(
    config.contexts.map(({ name }) => name),
    ['prod', 'flotilla'],
  )
  assert.deepEqual(config.users, [
    { name: 'ann', user: { token: 'old' } },
    { name: 'flotilla', user: { tokenFile } },
  ])
  assert.equal(readFileSync(tokenFile, 'utf8'), `${token}\n`)
  assert.deepEqual([modeOf(file), modeOf(tokenFile)], ['600', '600'])
  const forbidden = await run(['get', 'clusters'])
  assert.equal(forbidden.code, 4, forbidden.stderr)
  assert.match(forbidden.stderr, /system:serviceaccount:default:default/)

  const second = await run(['login', '--from', admin, '--current'])
  assert.equal(second.code, 0, second.stderr)
  assert.match(second.stderr, /as admin \(system:masters\)\n.*written to \S+ as the current context\n/)
  assert.equal(configOf(file)['current-context'], 'flotilla')
  assert.equal((await run(['get', 'clusters'])).code, 0)

  writeFileSync(file, readFileSync(file, 'utf8').replace(server, 'https://other.example'))
  const replacing = await run(['login', '--from', admin])
  assert.equal(replacing.code, 2)
  assert.match(replacing.stderr, /points to https:\/\/other\.example: stdin is not a terminal\nhint: pass --yes/)
  assert.equal((await run(['login', '--from', admin, '--yes'])).code, 0)

  // As kubectl does with a list: the first file there is, or the last one named.
  const list = ['a', 'b', 'c'].map((name) => join(home, name))
  const asList = { env: { KUBECONFIG: list.join(':') } }
  assert.equal((await run(['login', '--from', admin], asList)).code, 0)
  assert.deepEqual(list.map(existsSync), [false, false, true])
  writeFileSync(list[1]!, PROD)
  assert.equal((await run(['login', '--from', admin, '--context', 'shop'], asList)).code, 0)
  assert.deepEqual(
    list.slice(1).map((one) => configOf(one).contexts.map(({ name }) => name)),
    [['prod', 'shop'], ['flotilla']],
  )
  writeFileSync(`${list[2]!}.lock`, '')
  const locked = await run(['login', '--from', admin], asList)
  assert.equal(locked.code, 5)
  assert.match(locked.stderr, /^error: \S+\.lock: the kubeconfig is locked by another process\nhint: try again/)
  assert.equal((await hub.stop()).code, 0)
})
