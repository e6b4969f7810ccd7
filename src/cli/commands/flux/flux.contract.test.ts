/** flux build kustomization and flux envsubst print what Flux's own command printed. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { concatBytes, utf8 } from '../../../core/bytes.ts'
import { runCli } from '../../run.ts'
import { createTerminal } from '../../print/terminal.ts'
import { readEnvironment } from '../../config.ts'
import { readCases } from '../../../../test/recorded/recorded-case.ts'
import type { RecordedCase } from '../../../../test/recorded/recorded-case.ts'

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  /** What was printed to stdout, as bytes. */
  readonly bytes: Uint8Array
}

async function flotilla(args: readonly string[], input = '', env: Record<string, string> = {}): Promise<Ran> {
  let out = ''
  let err = ''
  const raw: Uint8Array[] = []
  const environment = { ...readEnvironment({}), variables: env }
  const sink = (add: (text: string) => void) => ({
    isTTY: false,
    columns: 80,
    write: (text: string) => (add(text), true),
  })
  const code = await runCli([...args], {
    environment,
    signal: new AbortController().signal,
    stdin: (async function* () {
      yield utf8(input)
    })(),
    writeBytes: (bytes) => raw.push(bytes),
    terminalFor: (color) =>
      createTerminal({
        stdout: sink((text) => (out += text)),
        stderr: sink((text) => (err += text)),
        stdinIsTTY: false,
        environment,
        color,
      }),
  })
  return { code, out, err, bytes: concatBytes([utf8(out), ...raw]) }
}

function directory(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'flux-build-'))
  t.after(() => rmSync(made, { recursive: true }))
  return made
}

function write(root: string, path: string, text: string): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

async function buildRecorded(t: TestContext, one: RecordedCase): Promise<Ran> {
  const root = directory(t)
  const source = join(root, 'source')
  mkdirSync(source)
  for (const [path, text] of Object.entries(one['files'] as Record<string, string>)) write(source, path, text)
  for (const [path, target] of Object.entries((one['links'] ?? {}) as Record<string, string>)) {
    symlinkSync(target, join(source, path))
  }
  const file = write(root, 'ks.yaml', one['kustomization'] as string)
  const sources = Object.entries((one['localSources'] ?? {}) as Record<string, string>)
  const args = [
    'flux',
    'build',
    'kustomization',
    String(one['name']),
    '--path',
    join(source, String(one['path'])),
    '--kustomization-file',
    file,
    ...(one['namespace'] === undefined ? [] : ['--namespace', one['namespace'] as string]),
    ...(one['strict'] === true ? ['--strict-substitute'] : []),
    ...(one['ignorePaths'] === undefined ? [] : ['--ignore-paths', (one['ignorePaths'] as string[]).join(',')]),
    ...(one['objects'] === undefined
      ? ['--dry-run']
      : ['--objects', write(root, 'objects.json', JSON.stringify({ items: one['objects'] }))]),
    ...(sources.length === 0
      ? []
      : ['--recursive', '--local-sources', sources.map(([key, path]) => `${key}=${join(source, path)}`).join(',')]),
  ]
  return await flotilla(args)
}

test('build kustomization prints the bytes of the recorded command, or fails where it failed', async (t) => {
  const different: string[] = []
  for (const one of readCases('flux/build.jsonl.gz')) {
    const { code, out } = await buildRecorded(t, one)
    const expected = one.expect as { readonly yaml?: string }
    if (expected.yaml === undefined ? code !== 1 : code !== 0 || out !== expected.yaml) different.push(one.id)
  }
  assert.deepEqual(different, [])
})

test('a build that fails says why, and prints no objects', async (t) => {
  const root = directory(t)
  write(root, 'a.yaml', 'kind: [')
  const ks = write(
    root,
    'ks.yaml',
    'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app}\n',
  )
  const { code, out, err } = await flotilla(['flux', 'build', 'ks', 'app', '--path', root, '--kustomization-file', ks])
  assert.equal(code, 1)
  assert.equal(out, '')
  assert.match(err, /failed to generate kustomization\.yaml: failed to decode Kubernetes YAML from .*a\.yaml/)
})

test('envsubst prints what the recorded command printed, line by line', async () => {
  const different: string[] = []
  for (const { id, text, vars, strict, expect } of readCases('flux/substitute.jsonl.gz')) {
    const { output, output64, error } = expect as Record<string, string | undefined>
    const args = ['flux', 'envsubst', ...(strict === true ? ['--strict'] : [])]
    const ran = await flotilla(args, text as string, vars as Record<string, string>)
    if (
      ran.code !== (error === undefined ? 0 : 1) ||
      !Buffer.from(output64 ?? output ?? '', output64 === undefined ? 'utf8' : 'base64').equals(ran.bytes)
    )
      different.push(id)
  }
  assert.deepEqual(different, [])
})
