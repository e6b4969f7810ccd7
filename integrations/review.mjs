// Says on a pull or merge request what it would do to the fleet: one comment, renewed at each push.
//
//   node review.mjs github|gitlab
//
// It runs `flotilla validate` and `flotilla diff` and posts their markdown. Plain JavaScript without packages, because
// it runs on whatever Node (20 or newer) a runner has. Settings come from the environment; see the README beside it.
import { spawn } from 'node:child_process'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const env = process.env
const MAX_BODY = 65_000
const FAIL_ON = ['errors', 'differences', 'never']

class Trouble extends Error {}

/** What the person set; an empty variable is one that is not set. */
function setting(name, fallback = '') {
  return env[name] === undefined || env[name] === '' ? fallback : env[name]
}

function required(name, why) {
  const value = setting(name)
  if (value === '') throw new Trouble(`${name} is not set: ${why}`)
  return value
}

/** Runs the CLI; its output is data, what it says goes to the log. */
function flotilla(args, kubeconfig) {
  const program = setting('FLOTILLA', join(dirname(fileURLToPath(import.meta.url)), '../bin/flotilla'))
  return new Promise((done, fail) => {
    const child = spawn(program, args, {
      env: { ...env, ...(kubeconfig === undefined ? {} : { FLOTILLA_KUBECONFIG: kubeconfig }), NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
      process.stderr.write(text)
    })
    child.on('error', (error) => fail(new Trouble(`${program} cannot be run: ${error.message}`)))
    child.on('close', (code) => done({ code: code ?? 2, stdout, stderr }))
  })
}

/** Text in a block that it cannot end. */
function fenced(text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text.trim()}\n${fence}\n`
}

/** What to post, and how it went. */
async function review({ into, annotate }) {
  const folder = await mkdtemp(join(setting('RUNNER_TEMP', tmpdir()), 'flotilla-review-'))
  try {
    let kubeconfig
    const content = setting('FLOTILLA_KUBECONFIG_CONTENT')
    if (content !== '') {
      kubeconfig = join(folder, 'kubeconfig')
      await writeFile(kubeconfig, content, { mode: 0o600 })
    }
    const directory = setting('FLOTILLA_DIRECTORY', '.')
    const source = setting('FLOTILLA_SOURCE')
    const about = [
      '-f',
      directory,
      ...(source === '' ? [] : ['--source', source]),
      ...(into === '' ? [] : ['--into', into]),
    ]
    const parts = []
    let errors = 0
    if (setting('FLOTILLA_VALIDATE', 'true') !== 'false') {
      const found = await flotilla(['validate', '--hub', '-f', directory, '-o', 'markdown'], kubeconfig)
      if (found.code !== 0) errors += 1
      if (found.code > 1) parts.push(`### flotilla validate failed\n\n${fenced(found.stderr.slice(-4000))}`)
      else if (!found.stdout.startsWith('### flotilla validate: nothing found')) parts.push(found.stdout)
      if (annotate) {
        const shown = await flotilla(['validate', '--hub', '-f', directory, '-o', 'github'], kubeconfig)
        process.stdout.write(shown.stdout)
      }
    }
    const compared = await flotilla(['diff', ...about, '-o', 'markdown'], kubeconfig)
    let totals = {}
    // Exit code 2 with output: some Bundles were not compared, and the output names them.
    const isPartial = compared.code === 2 && compared.stdout.startsWith('### flotilla diff')
    if (compared.code > 1 && !isPartial) {
      errors += 1
      parts.unshift(`### flotilla diff failed\n\n${fenced(compared.stderr.slice(-4000))}`)
    } else {
      totals = JSON.parse(/^<!-- totals (\{.*\}) -->$/m.exec(compared.stdout)?.[1] ?? '{}')
      if (totals.cannotRender > 0 || totals.denied > 0) errors += 1
      parts.unshift(compared.stdout)
    }
    return { body: parts.join('\n'), errors, differences: compared.code === 1 || isPartial, totals }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A call of a provider's API; what it refuses is told with the permission that is missing. */
async function call(method, url, { headers, body, advice }) {
  const answer = await fetch(url, {
    method,
    redirect: 'error',
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.ok) return text === '' ? undefined : JSON.parse(text)
  const refused = new Trouble(`${method} ${url} answered ${answer.status}: ${text.slice(0, 300)}\n${advice}`)
  refused.status = answer.status
  throw refused
}

/** Renews the comment with our mark, or makes it. */
async function post({ list, update, create, marker, body }) {
  const comment = `${marker}\n${body.length > MAX_BODY ? `${body.slice(0, MAX_BODY)}\n\n…cut: too long for a comment` : body}`
  for (let page = 1; page <= 50; page++) {
    const found = await list(page)
    for (const { id } of found.filter((one) => String(one.body).startsWith(marker))) {
      try {
        await update(id, comment)
        return 'renewed'
      } catch (error) {
        // Somebody else's comment with our mark is left alone.
        if (![403, 404].includes(error.status)) throw error
      }
    }
    if (found.length < 100) break
  }
  await create(comment)
  return 'made'
}

function markerOf() {
  const id = setting('FLOTILLA_COMMENT_ID', 'fleet')
  if (!/^[\w-]{1,64}$/.test(id)) throw new Trouble(`FLOTILLA_COMMENT_ID must be letters, digits, - and _, not ${id}`)
  return `<!-- flotilla-diff:${id} -->`
}

async function github() {
  const event = JSON.parse(await readFile(required('GITHUB_EVENT_PATH', 'this is no GitHub workflow'), 'utf8'))
  const number = event.pull_request?.number
  const result = await review({ into: setting('FLOTILLA_INTO', event.pull_request?.base?.ref), annotate: true })
  if (setting('GITHUB_STEP_SUMMARY') !== '') await appendFile(env.GITHUB_STEP_SUMMARY, result.body)
  if (setting('GITHUB_OUTPUT') !== '') {
    const { cannotRender = 0, clusters = 0 } = result.totals
    await appendFile(
      env.GITHUB_OUTPUT,
      `differences=${result.differences}\nclusters=${clusters}\ncannot-render=${cannotRender}\n`,
    )
  }
  if (number === undefined) {
    process.stdout.write('this is no pull request: nothing is posted\n')
    return result
  }
  const token = required('GITHUB_TOKEN', 'give the step github-token')
  const api = `${setting('GITHUB_API_URL', 'https://api.github.com')}/repos/${required('GITHUB_REPOSITORY', 'this is no GitHub workflow')}`
  const ask = {
    headers: { authorization: `Bearer ${token}`, 'x-github-api-version': '2022-11-28', 'user-agent': 'flotilla' },
    advice: 'give the job the permission `pull-requests: write`',
  }
  const how = await post({
    marker: markerOf(),
    body: result.body,
    list: (page) => call('GET', `${api}/issues/${number}/comments?per_page=100&page=${page}`, ask),
    update: (id, body) => call('PATCH', `${api}/issues/comments/${id}`, { ...ask, body: { body } }),
    create: (body) => call('POST', `${api}/issues/${number}/comments`, { ...ask, body: { body } }),
  })
  process.stdout.write(`comment ${how} on pull request ${number}\n`)
  return result
}

async function gitlab() {
  const number = setting('CI_MERGE_REQUEST_IID')
  const into = setting('FLOTILLA_INTO', setting('CI_MERGE_REQUEST_TARGET_BRANCH_NAME'))
  const result = await review({ into, annotate: false })
  if (number === '') {
    process.stdout.write(`${result.body}\nthis is no merge request: nothing is posted\n`)
    return result
  }
  const project = encodeURIComponent(required('CI_PROJECT_ID', 'this is no GitLab job'))
  const api = `${required('CI_API_V4_URL', 'this is no GitLab job')}/projects/${project}/merge_requests/${number}/notes`
  const ask = {
    headers: { 'private-token': required('FLOTILLA_GITLAB_TOKEN', 'a project access token with the scope api') },
    advice: 'FLOTILLA_GITLAB_TOKEN needs the scope `api` and the role Reporter',
  }
  const how = await post({
    marker: markerOf(),
    body: result.body,
    list: (page) => call('GET', `${api}?per_page=100&page=${page}`, ask),
    update: (id, body) => call('PUT', `${api}/${id}`, { ...ask, body: { body } }),
    create: (body) => call('POST', api, { ...ask, body: { body } }),
  })
  process.stdout.write(`note ${how} on merge request ${number}\n`)
  return result
}

try {
  const failOn = setting('FLOTILLA_FAIL_ON', 'errors')
  if (!FAIL_ON.includes(failOn)) throw new Trouble(`FLOTILLA_FAIL_ON is one of ${FAIL_ON.join(', ')}, not ${failOn}`)
  const providers = { github, gitlab }
  const provider = providers[process.argv[2] ?? '']
  if (!provider) throw new Trouble(`name the provider: ${Object.keys(providers).join(' or ')}`)
  const { errors, differences } = await provider()
  const isFailure = failOn !== 'never' && (errors > 0 || (failOn === 'differences' && differences))
  process.exitCode = isFailure ? 1 : 0
} catch (error) {
  process.stderr.write(`error: ${error instanceof Trouble ? error.message : String(error?.stack ?? error)}\n`)
  process.exitCode = 2
}
