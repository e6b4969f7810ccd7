/** The completion scripts in the shells they are for, with the names of a live hub. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { FREE, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const BIN = resolve(import.meta.dirname, '../../bin')

/** A script that completes as each shell does on TAB: `words` are the words so far, the last word unfinished. */
const SHELLS: Readonly<Record<string, (words: readonly string[]) => readonly string[]>> = {
  bash: (words) => [
    'bash',
    '--norc',
    '-c',
    'source <(flotilla completion bash); COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; _flotilla; printf "%s\\n" "${COMPREPLY[@]}"',
    'flotilla',
    ...words,
  ],
  zsh: (words) => [
    'zsh',
    '-f',
    '-c',
    `compdef() { :; }; _files() { print -- FILES; }; compadd() { shift; print -rl -- "$@"; }
     source <(flotilla completion zsh); words=(flotilla "$@"); CURRENT=$(($# + 1)); _flotilla`,
    'zsh',
    ...words,
  ],
  fish: (words) => [
    'fish',
    '--no-config',
    '-c',
    'flotilla completion fish | source; complete -C $argv[1]',
    `flotilla ${words.join(' ')}`,
  ],
}

const CASES: readonly (readonly [words: readonly string[], wanted: readonly string[]])[] = [
  [['rollou'], ['rollout']],
  [['rollout', 're'], ['resume']],
  [
    ['get', 'rollout'],
    ['rolloutplans', 'rollouts'],
  ],
  [
    ['get', 'namespaces', 'kube-'],
    ['kube-public', 'kube-system'],
  ],
  [
    ['check', '--output', ''],
    ['json', 'short', 'table'],
  ],
]

for (const [shell, press] of Object.entries(SHELLS)) {
  const isHere = spawnSync(shell, ['--version']).status === 0
  const skip = isHere ? false : `${shell} is not here: apt-get install ${shell}`
  test(`${shell} completes commands, flags, kinds and names`, { skip }, async (t) => {
    const data = join(temporaryFolder(t), 'hub')
    const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE])
    await hub.says(/flotilla hub ready/)
    const env = {
      ...process.env,
      PATH: `${BIN}:${process.env['PATH']}`,
      HOME: temporaryFolder(t),
      FLOTILLA_STATE_DIR: temporaryFolder(t),
      FLOTILLA_KUBECONFIG: join(data, 'admin.kubeconfig'),
    }
    const folder = temporaryFolder(t)
    for (const [words, wanted] of CASES) {
      const [program = '', ...args] = press(words)
      const said = execFileSync(program, args, {
        env,
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      // fish adds what a candidate is for after a tab.
      const found = said.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]!]))
      assert.deepEqual(found.toSorted(), wanted, `${shell}: flotilla ${words.join(' ')}`)
    }
    assert.equal((await hub.stop()).code, 0)
  })
}
