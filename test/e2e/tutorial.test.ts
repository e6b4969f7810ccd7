import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { followTutorial, stepsOf } from './tutorial.ts'

const TUTORIAL = `# A tutorial
\`\`\`yaml folder/file.yaml
a: 1
\`\`\`
Text.
\`\`\`console
$ export WORD=hello
$ echo "$WORD  id-7"; cat folder/file.yaml
hello {id}
a: 1
$ echo got {id}
got id-7
\`\`\`
\`\`\`console until
$ echo x >> count; wc -l < count
3
\`\`\`
`

test('a tutorial is followed: files, environment, captured words, repeated commands', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tutorial-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const reader = { folder, env: { PATH: '/usr/bin:/bin' }, withinMs: 20_000, onBackground: () => {} }
  assert.equal(await followTutorial(write('good.md', TUTORIAL), reader), 5)
  assert.equal(readFileSync(join(folder, 'count'), 'utf8'), 'x\nx\nx\n')
  const wrong = TUTORIAL.replace('got id-7', 'got id-8')
  await assert.rejects(
    followTutorial(write('bad.md', wrong), reader),
    /line 6: echo got id-7\nended with 0 and did not say\n {2}got id-8\nbut\n {2}got id-7/,
  )
  assert.throws(() => stepsOf('```yaml\na: 1\n```\n'), /line 1: a block that no reader can follow/)
})
