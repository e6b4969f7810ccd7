/** The README's section "A hub of your own", followed word by word. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { describedProgram } from '../../src/cli/program/docs-page.ts'
import { FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import { wordsOf } from './transcript.ts'

const README = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8')
const [, SECTION = ''] = /\n## A hub of your own\n([^]*?)\n## /.exec(README) ?? []

/** The command lines of the indented blocks, without comments. */
const LINES = SECTION.split('\n')
  .filter((line) => line.startsWith('    bin/flotilla '))
  .map((line) => line.split(' #')[0]!.trim())

test('the commands of the README exist, with their flags', () => {
  const names = describedProgram().commands.map((command) => command.name())
  assert.ok(LINES.length >= 6, LINES.join('\n'))
  for (const line of LINES) assert.ok(names.includes(wordsOf(line)[1]!), line)
  for (const [, kinds = ''] of README.matchAll(/\bget (\S+) -w/g)) {
    assert.doesNotMatch(kinds, /,/, 'kubectl and flotilla watch one kind')
  }
})

test('the commands of the README work to the last line', async (t) => {
  const folder = temporaryFolder(t)
  const data = join(folder, 'hub-data')
  const [, objects = ''] = /```yaml\n([^]*?)```/.exec(SECTION) ?? []
  writeFileSync(join(folder, 'hello.yaml'), objects)
  const args = (line: string): string[] =>
    wordsOf(line)
      .slice(1)
      .map((word) => word.replace('./hub-data', data).replace('hello.yaml', join(folder, 'hello.yaml')))
  const env = { FLOTILLA_STATE_DIR: folder, FLOTILLA_KUBECONFIG: join(data, 'admin.kubeconfig') }
  const [first = '', ...rest] = LINES
  const hub = startFlotilla(t, [...args(first), ...FREE], { env })
  await hub.says(/ready/)
  for (const line of rest) {
    if (line.endsWith(' -w')) {
      const watch = startFlotilla(t, args(line), { env })
      await watch.says(/NAME .*\nhello-g1/)
      await watch.stop('SIGINT')
      continue
    }
    const { code, stderr } = await runFlotilla(t, args(line), { env })
    assert.equal(code, 0, `${line}\n${stderr}`)
  }
})
