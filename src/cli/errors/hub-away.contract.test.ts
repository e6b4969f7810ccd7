/** Every command against a hub that is down, and against a hub that refuses every request. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { readEnvironment } from '../config.ts'
import { createTerminal } from '../print/terminal.ts'
import { allCommands, describedProgram } from '../program/docs-page.ts'
import { runCli } from '../run.ts'

/** Commands that do not connect to a hub, that read files first, or that run until they are stopped. */
const LOCAL =
  /^flotilla (demo|hub|agent|login|backup|restore|trust (rotate (signer|ca|api)|require-agent|export|init|secret)|template|kustomize|completion|help|version|validate$|render|check|bundle import|events .*-w|get .*-w|rollout watch|diff|ocm (place|join|unjoin)|policy|argo generate|flux (build|envsubst)|fleet (apply|test|target|deploy)|karmada|evidence verify)\b/

/** As in `diff`, exit code 1 means differences, and 2 that nothing was compared. */
const DIFF = /^flotilla flux diff /

function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, ''))
}

const lines = [
  ...new Set(allCommands(describedProgram()).flatMap(({ examples }) => examples.map(({ line }) => line))),
].filter((line) => !LOCAL.test(line))

async function run(t: TestContext, server: string): Promise<Map<string, { code: number; said: string }>> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-away-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const kubeconfig = join(folder, 'config')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'hub', cluster: { server } }],
      users: [{ name: 'me', user: { token: 'x' } }],
      contexts: [{ name: 'flotilla', context: { cluster: 'hub', user: 'me' } }],
      'current-context': 'flotilla',
    }),
  )
  const files = { 'shop.yaml': 'Bundle', 'stores.yaml': 'Placement' }
  for (const [file, kind] of Object.entries(files)) {
    const object = { apiVersion: 'flotilla.dev/v1alpha1', kind, metadata: { name: 'shop' }, spec: {} }
    writeFileSync(join(folder, file), JSON.stringify(object))
  }
  const ended = new Map<string, { code: number; said: string }>()
  for (const line of lines) {
    let said = ''
    const stream = { write: (text: string) => void (said += text), isTTY: false }
    const args = wordsOf(line)
      .slice(1)
      .map((word) => (word in files ? join(folder, word) : word))
    const code = await runCli([...args, '--kubeconfig', kubeconfig], {
      environment: { ...readEnvironment({}), program: 'flotilla', path: [], stateFolder: folder },
      signal: new AbortController().signal,
      stdin: (async function* () {})(),
      terminalFor: () =>
        createTerminal({
          stdout: stream,
          stderr: stream,
          stdinIsTTY: false,
          environment: { isUtf8: true, color: false, program: 'flotilla' },
        }),
    })
    // A command with files of its own ends before it connects.
    if (said.includes('cannot read the file')) continue
    // A promise without a reader fails the test by itself, one turn of the event loop later.
    await new Promise(setImmediate)
    ended.set(line, { code, said })
  }
  return ended
}

test('a hub that is down is one error with a hint, whatever the command', async (t) => {
  const ended = await run(t, 'http://127.0.0.1:1')
  assert.ok(ended.size > 50, String(ended.size))
  for (const [line, { code, said }] of ended) {
    assert.match(said, /^error: .*cannot reach the hub: connection refused.*\nhint: .*\n$/, `${line}\n${said}`)
    assert.equal(code, DIFF.test(line) ? 2 : 1, line)
  }
})

test('a hub that refuses every request is one error, whatever the command', async (t) => {
  const server = createServer((request, response) => {
    response.writeHead(403, { 'content-type': 'application/json' })
    const message = `${request.url} is forbidden: user "eve" may not do this`
    response.end(JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  for (const [line, { code, said }] of await run(t, `http://127.0.0.1:${port}`)) {
    assert.match(said, /^error: .*(forbidden|not allowed)[^\n]*\n(hint: [^\n]*\n)?$/, `${line}\n${said}`)
    assert.equal(code, 4, line)
  }
})
