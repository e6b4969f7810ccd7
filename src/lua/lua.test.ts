import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileHealthCheck } from './health-check.ts'
import { compileLua } from './lua.ts'

function run(source: string, globals: Record<string, unknown> = {}): unknown {
  const script = compileLua(source)
  if (!script.ok) return `refused: ${script.problem}`
  const result = script.run(globals)
  if (!result.ok) return `error: ${result.error}`
  return result.values.length === 1 ? result.values[0] : result.values
}

describe('scripts', () => {
  const cases: [name: string, source: string, expected: unknown, globals?: Record<string, unknown>][] = [
    ['nothing', '', []],
    ['several values', 'return 1, "a", nil, true', [1, 'a', null, true]],
    ['priorities', 'return 2 + 3 * 4 ^ 2 ^ 0.5 - -1', 2 + 3 * 4 ** (2 ** 0.5) + 1],
    ['unary minus binds less than a power', 'return -2 ^ 2', -4],
    ['concatenation from the right', 'return 1 .. 2 .. "x"', '12x'],
    ['modulo of negative numbers', 'return {-5 % 3, 5 % -3, 5.5 % 2}', [1, -1, 1.5]],
    ['strings as numbers', 'return "10" + 5', 15],
    ['comparison', 'return {1 < 2, "a" < "b", 1 == "1", nil == false, "a" ~= "b"}', [true, true, false, false, true]],
    ['and, or', 'return {nil or "x", false and 1 or 2, 0 and "zero is true"}', ['x', 2, 'zero is true']],
    ['locals hide', 'local a = 1; do local a = 2 end; return a', 1],
    ['assignment evaluates first', 'local a, b = 1, 2; a, b = b, a; return {a, b}', [2, 1]],
    ['missing values are nil', 'local a, b = 1; return {a, b == nil}', [1, true]],
    ['while and break', 'local n = 0; while true do n = n + 1; if n == 5 then break end end; return n', 5],
    ['repeat sees its locals', 'local n = 0; repeat n = n + 1; local done = n > 2 until done; return n', 3],
    ['counting down', 'local s = ""; for i = 3, 1, -1 do s = s .. i end; return s', '321'],
    [
      'elseif',
      'local function f(x) if x < 0 then return "-" elseif x == 0 then return "0" else return "+" end end return f(-1) .. f(0) .. f(1)',
      '-0+',
    ],
    [
      'goto as continue',
      'local s = 0; for i = 1, 5 do if i % 2 == 0 then goto continue end; s = s + i; ::continue:: end; return s',
      9,
    ],
    ['goto backwards', 'local n = 0; ::again:: n = n + 1; if n < 3 then goto again end; return n', 3],
    ['recursion', 'local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end return f(12)', 144],
    [
      'closures keep a variable of each pass',
      'local fs = {}; for i = 1, 3 do fs[i] = function() i = i + 1; return i end end; return {fs[1](), fs[1](), fs[3]()}',
      [2, 3, 4],
    ],
    [
      'a hidden name keeps its meaning in functions',
      'local x = 1; local f; do local x = 2; f = function() return x end end; local g = function() return x end; return {f(), g()}',
      [2, 1],
    ],
    [
      'two functions deep',
      'local a = 1; local function f() return function() a = a + 1; return a end end; f()(); return a',
      2,
    ],
    ['only the last call gives all values', 'local function f() return 1, 2 end; return {f(), f()}', [1, 1, 2]],
    ['parentheses give one value', 'local function f() return 1, 2 end; return {(f())}', [1]],
    ['methods', 'local o = {n = 1}; function o:add(x) self.n = self.n + x; return self.n end; return o:add(4)', 5],
    ['methods of strings', 'return ("Ready"):lower() .. #"abc"', 'ready3'],
    ['tables', 'local t = {1, 2, x = "y", ["a b"] = 3, [3] = 4}; return {t.x, t["a b"], #t, t[3]}', ['y', 3, 3, 4]],
    ['pairs meets all keys', 'local n = 0; for k, v in pairs({1, 2, x = 3, y = 4}) do n = n + v end; return n', 10],
    [
      'pairs may remove',
      'local t = {a = 1, b = 2, c = 3}; for k in pairs(t) do t[k] = nil end; return next(t) == nil',
      true,
    ],
    ['ipairs ends at nil', 'local n = 0; for i, v in ipairs({1, 2, nil, 4}) do n = i end; return n', 2],
    ['long strings and comments', '--[[ a\n]] --[==[ ]] ]==]\nreturn [[\nx]] -- end', 'x'],
    ['escapes', String.raw`return "a\tb\65\"" .. 'c\\'`, 'a\tbA"c\\'],
    [
      'numbers as text',
      'return {tostring(1), tostring(1.5), tostring(1e15), tostring(2^63), 1/0 .. "", tostring(0.00001), tostring(0.1), tostring(-12.25), tostring(1234567.5)}',
      ['1', '1.5', '1000000000000000', '9.223372036854776e+18', '+Inf', '1e-05', '0.1', '-12.25', '1.2345675e+06'],
    ],
    ['bytes of UTF-8', 'return {#obj, obj:sub(1, 2), obj}', [3, 'é', 'éx'], { obj: 'éx' }],
    [
      'objects',
      'local c = obj.status.conditions[2]; return c.type .. #obj.status.conditions',
      'Ready2',
      { obj: { status: { conditions: [{}, { type: 'Ready' }] } } },
    ],
    ['null is nil', 'return obj.a == nil and next(obj) == nil', true, { obj: { a: null } }],
    ['tostring of nothing', 'return tostring(nil) .. type(print) .. type({})', 'nilfunctiontable'],
    [
      'tonumber',
      'return {tonumber("0x1F"), tonumber(" 7 "), tonumber("7a") == nil, tonumber("ff", 16), tonumber("-101", 2)}',
      [31, 7, true, 255, -5],
    ],
    [
      'table functions',
      'local t = {3, 1, 2}; table.sort(t); table.insert(t, 4); table.insert(t, 1, 0); table.remove(t); return table.concat(t, ",") .. table.getn(t)',
      '0,1,2,34',
    ],
    [
      'sort by a function',
      'local t = {{n = 2}, {n = 1}}; table.sort(t, function(a, b) return a.n < b.n end); return t[1].n',
      1,
    ],
    ['find and match', 'return {("a.b"):find(".", 1, true), ("key=val"):match("(%w+)=(%w+)")}', [2, 'key', 'val']],
    [
      'positions and anchors',
      'return {("hello"):find("l+"), ("x"):match("^y") == nil, ("abc"):match("()c")}',
      [3, true, 3],
    ],
    [
      'gsub',
      'local s, n = ("hello world"):gsub("o", "0"); local u = ("$a $b"):gsub("%$(%w)", {a = "1"}); return {s, n, u, (("abc"):gsub("%w", "%0%0", 2))}',
      ['hell0 w0rld', 2, '1 $b', 'aabbc'],
    ],
    [
      'gmatch',
      'local t = {}; for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do t[#t + 1] = k .. v end; return t',
      ['a1', 'b2'],
    ],
    [
      'lazy, sets, balance, frontier',
      'return {("<<a>b>"):match("<(.-)>"), ("x_1-"):match("[%w_]+"), ("f(a(b))c"):match("%b()"), ("THE (quick)"):find("%f[%a]%a+%f[%A]")}',
      ['<a', 'x_1', '(a(b))', 1, 3],
    ],
    [
      'format',
      'return string.format("%d of %s (%5.1f%%) %03d %x %q", 3, "five", 60, 7, 255, "a")',
      '3 of five ( 60.0%) 007 ff "a"',
    ],
    [
      'pcall',
      'local ok, e = pcall(function() error("no") end); local ok2, e2 = pcall(error, {code = 1}); return {ok, e, ok2, e2.code}',
      [false, '<string>:1: no', false, 1],
    ],
    ['math', 'return {math.floor(-1.5), math.max(1, 3, 2), math.huge == 1/0}', [-2, 3, true]],
    [
      'an index of nil',
      'local x = {}\nreturn x.a.b',
      "error: <string>:2: attempt to index a non-table object(nil) with key 'b'",
    ],
    ['a call of nil', 'x.y()', "error: <string>:1: attempt to call a nil value 'x.y'", { x: {} }],
    ['a sum with nil', 'return 1 + nil', 'error: <string>:1: cannot perform add operation between number and nil'],
    [
      'an error in a library',
      'return ("x"):rep(-1) .. string.rep()',
      'error: <string>:1: bad argument #1 to string.rep (string expected, got no value)',
    ],
    ['syntax', 'local x = = 1', "refused: line 1: name expected near '='"],
    ['an open block', 'if x then', "refused: line 1: 'end' expected near '<eof>'"],
    ['a label that is not there', 'goto nowhere', "refused: line 1: no visible label 'nowhere'"],
    ['a label of another function', '::a:: local f = function() goto a end', "refused: line 1: no visible label 'a'"],
    ['os', 'local t = {}\nreturn os.time()', 'refused: line 2: os is not available'],
    ['io', 'io.write("x")', 'refused: line 1: io is not available'],
    ['load', 'return load("return 1")()', 'refused: line 1: load is not available'],
    ['chance', 'return math.random()', 'refused: line 1: math.random is not available'],
    ['metatables', 'setmetatable({}, {})', 'refused: line 1: setmetatable is not available'],
    ['a local of such a name', 'local os = {time = function() return 1 end}; return os.time()', 1],
    ['coroutines', 'coroutine.wrap(f)', 'refused: line 1: coroutine is not available'],
  ]
  for (const [name, source, expected, globals] of cases) {
    it(name, () => assert.deepEqual(run(source, globals), expected))
  }

  it('passes all values of varargs', () => {
    assert.deepEqual(
      run(
        'local function f(...) local a, b, c = ...; return select("#", ...) .. a .. tostring(b) .. c end return f(1, nil, 3)',
      ),
      '31nil3',
    )
  })

  it('calls a global function of a script', () => {
    const script = compileLua('function GetReplicas(obj) return obj.spec.replicas, {a = 1} end')
    assert.ok(script.ok)
    assert.deepEqual(script.call('GetReplicas', [{ spec: { replicas: 3 } }]), { ok: true, values: [3, { a: 1 }] })
    assert.deepEqual(script.call('Retain', []), { ok: false, error: 'the script has no function Retain' })
  })

  it('shares nothing between runs', () => {
    const script = compileLua('count = (count or 0) + 1; string.x = count; return count')
    assert.ok(script.ok)
    const [first, second] = [script.run({}), script.run({})]
    assert.deepEqual(first, { ok: true, values: [1] })
    assert.deepEqual(second, first)
  })
})

describe('limits', () => {
  const endless: [string, string, RegExp][] = [
    ['a loop', 'while true do end', /too many steps/],
    ['a goto', '::a:: goto a', /too many steps/],
    ['a caught error', 'while true do pcall(error, "x") end', /too many steps/],
    ['recursion', 'local function f() return f() end return f()', /too deeply/],
    ['a doubled string', 'local s = "x"; while true do s = s .. s end', /too much memory/],
    ['a repeated string', 'return ("x"):rep(1e9)', /too much memory/],
    ['a long table', 'local t = {}; for i = 1, 1e9 do t[i] = i end', /too many steps|too much memory/],
    ['unpack', 'return unpack({}, 1, 1e9)', /too much memory/],
    [
      'a pattern that tries many ways',
      `return ("a"):rep(3000):find(("a*"):rep(30) .. "b")`,
      /too many steps|too complex/,
    ],
    ['a wide number', 'return string.format("%99.99f", 1)', /^$/],
    ['a table that contains itself', 'local t = {}; t.t = t; return t', /contains itself/],
    [
      'a loop behind a count that is no number',
      'local t = {1}; table.remove(t, 0/0); while true do end',
      /too many steps/,
    ],
    ['such a count of insert', 'local t = {1}; table.insert(t, 0/0, 1); while true do end', /too many steps/],
    ['such a count of rep', '("x"):rep(0/0); return unpack({}, 1, 1e10)', /too much memory/],
    ['an empty text for ever', '(""):rep(1/0); return unpack({}, 1, 1e10)', /too much memory/],
    ['unpack at infinity', 'return unpack({}, 1/0, 1/0)', /too much memory/],
    ['tables in many places', 'local a = {}; for i = 1, 60 do a = {x = a, y = a} end; return a', /too much memory/],
    [
      'a long text in many places',
      'local s = ("x"):rep(1e6); local t = {}; for i = 1, 2000 do t[i] = s end; return {message = t}',
      /too much memory/,
    ],
    ['a long number', 'local n = ("1"):rep(1e6); while true do tonumber(n, 16) end', /too many steps/],
    [
      'comparisons of long texts',
      'local a, b = ("x"):rep(3e5) .. "a", ("x"):rep(3e5) .. "b"; while a ~= b do end',
      /too many steps/,
    ],
    ['a long condition', `while 1 == 1${' and 1 == 1'.repeat(2500)} do end`, /too many steps/],
    [
      'copies of many arguments',
      'local function f(...) while true do local a = 1, ... end end f(unpack({}, 1, 9e4))',
      /too many steps/,
    ],
    ['a long replacement', '("x"):rep(50000):gsub(".*", ("%0"):rep(5000))', /too much memory/],
    ['many variables at once', `while true do ${'a, '.repeat(5000)}b = 1 end`, /too many steps/],
    ['many branches', `while true do if a then ${'elseif a then '.repeat(2000)} end end`, /too many steps/],
    ['a long text that repeats', '("a"):rep(60000):find("(a*)%1b")', /too many steps/],
    [
      'keys that are gone',
      'local t = {}; for i = 1, 9000 do t["a" .. i] = 1; t["a" .. i] = nil end; while true do next(t) end',
      /too many steps/,
    ],
  ]
  for (const [name, source, expected] of endless) {
    it(`stop ${name}`, () => {
      const script = compileLua(source)
      assert.ok(script.ok)
      const result = script.run({})
      assert.match(result.ok ? '' : result.error, expected)
    })
  }

  it('refuse what is nested or chained too deeply, without a crash', () => {
    for (const source of [
      `return ${'('.repeat(5000)}1${')'.repeat(5000)}`,
      `return ${'{'.repeat(5000)}`,
      `return ${'not '.repeat(5000)}1`,
      `x = y${'.a'.repeat(9000)}`,
      `${'do '.repeat(3000)}${'end '.repeat(3000)}`,
    ]) {
      assert.ok(!compileLua(source).ok)
    }
    const long = compileLua(`return 1${' + 1'.repeat(8000)}`)
    const result = long.ok ? long.run({}) : { ok: false as const, error: long.problem }
    assert.ok(result.ok ? result.values[0] === 8001 : /too (long|deeply)/.test(result.error))
    assert.ok(!compileLua('x'.repeat(40_000)).ok)
  })

  it('unpack above 2^53', () => assert.equal((run('return unpack({}, 2^53, 2^53 + 4)') as unknown[]).length, 5))

  it('refuse no name of JavaScript', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      assert.match(String(run(`return ${name}.x`)), /^error: <string>:1: attempt to index a non-table object\(nil\)/)
    }
  })

  it('compile nested tables once', () => {
    assert.equal((run(`return #{${'{'.repeat(40)}${'}'.repeat(40)}}`) as number) >= 0, true)
  })
})

describe('health checks', () => {
  const check = (source: string, object: unknown = {}) => {
    const compiled = compileHealthCheck(source)
    assert.ok(compiled.ok, compiled.ok ? '' : compiled.problem)
    return compiled.check(object)
  }

  it('return a status and a message', () => {
    const source = `
      local hs = {}
      if obj.status ~= nil and obj.status.conditions ~= nil then
        for _, condition in ipairs(obj.status.conditions) do
          if condition.type == "Ready" and condition.status == "True" then
            hs.status = "Healthy"
            hs.message = condition.message
            return hs
          end
        end
      end
      hs.status = "Progressing"
      hs.message = "Waiting"
      return hs`
    assert.deepEqual(check(source), { status: 'Progressing', message: 'Waiting' })
    const ready = { status: { conditions: [{ type: 'Ready', status: 'True', message: 'up' }] } }
    assert.deepEqual(check(source, ready), { status: 'Healthy', message: 'up' })
  })

  it('may return nothing, or something else', () => {
    assert.equal(check('return nil'), undefined)
    assert.equal(check(''), undefined)
    assert.deepEqual(check('return "Healthy"'), { error: 'expect table output from Lua script, not string' })
    assert.deepEqual(check('return {}'), { status: '', message: '' })
    assert.match(JSON.stringify(check('return {status = obj.a.b}')), /attempt to index/)
  })
})
