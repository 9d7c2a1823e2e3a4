// SPDX-License-Identifier: Apache-2.0

package powercut

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// What package syscall has no name for; see ptrace(2) and wait(2).
const (
	ptraceSyscallInfo = 0x420e
	ptraceExitKill    = 0x100000
	waitOwnChildren   = 0x20000000 // of this thread only: no other test's
	infoEntry         = 1
	infoExit          = 2
	maxString         = 4096
)

// ErrNotAllowed marks a machine that lets no program trace another one.
var ErrNotAllowed = errors.New("powercut: ptrace is not allowed here")

// Record runs the program argv with the environment env and records what it does
// to the file at path, an absolute one, and prints to its standard output, until
// it has printed so many lines; then it is killed. Its standard error is the
// caller's.
func Record(path string, argv, env []string, lines int) (Trace, error) {
	runtime.LockOSThread() // one thread is the tracer
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = null.Close() }()
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Env: env, Files: []*os.File{null, null, os.Stderr}, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		if errors.Is(err, syscall.EPERM) {
			return nil, fmt.Errorf("%w: %w", ErrNotAllowed, err)
		}
		return nil, fmt.Errorf("powercut: start %s: %w", argv[0], err)
	}
	defer func() { _ = p.Release() }()
	r := &recorder{path: path, pid: p.Pid, lines: lines, fds: map[uint64]bool{}, calls: map[int]call{}}
	if err := r.begin(); err != nil {
		_ = p.Kill()
		return nil, err
	}
	return r.trace, r.run()
}

// A call is a system call that a thread is in.
type call struct {
	nr   uint64
	args [6]uint64
	file bool // an open of the file
	from int  // how many operations there were at its begin
}

type recorder struct {
	path  string
	pid   int
	lines int
	mem   *os.File
	fds   map[uint64]bool // those of the file
	calls map[int]call    // by thread
	trace Trace
}

func (r *recorder) begin() error {
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(r.pid, &ws, syscall.WALL, nil); err != nil {
		return fmt.Errorf("powercut: first stop: %w", err)
	}
	if err := syscall.PtraceSetOptions(r.pid, syscall.PTRACE_O_TRACECLONE|syscall.PTRACE_O_TRACESYSGOOD|ptraceExitKill); err != nil {
		return fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	return syscall.PtraceSyscall(r.pid, 0)
}

// run follows the threads from stop to stop until the program is dead.
func (r *recorder) run() error {
	var err error
	if r.mem, err = os.Open(fmt.Sprintf("/proc/%d/mem", r.pid)); err != nil {
		return errors.Join(err, syscall.Kill(r.pid, syscall.SIGKILL))
	}
	defer func() { _ = r.mem.Close() }()
	var failed error
	done := false
	for {
		var ws syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &ws, syscall.WALL|waitOwnChildren, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			return failed
		case err != nil:
			return errors.Join(failed, err, syscall.Kill(r.pid, syscall.SIGKILL))
		case ws.Exited() || ws.Signaled():
			if tid == r.pid {
				if !done && failed == nil {
					failed = fmt.Errorf("powercut: the program ended by itself after %d of %d lines", r.said(), r.lines)
				}
				return failed
			}
			continue
		}
		signal := 0
		switch s := ws.StopSignal(); s {
		case syscall.SIGTRAP | 0x80: // a system call begins or ends
			if done {
				break
			}
			if failed = r.stop(tid); failed != nil || r.said() >= r.lines {
				done = true
				_ = syscall.Kill(r.pid, syscall.SIGKILL)
			}
		case syscall.SIGTRAP, syscall.SIGSTOP: // a new thread, or the program's begin
		default:
			signal = int(s)
		}
		_ = syscall.PtraceSyscall(tid, signal) // a thread that is gone will be reported
	}
}

func (r *recorder) said() (n int) {
	for _, op := range r.trace {
		if op.Kind == Say {
			n += countLines(op.Data)
		}
	}
	return n
}

func countLines(b []byte) (n int) {
	for _, c := range b {
		if c == '\n' {
			n++
		}
	}
	return n
}

// stop notes what a thread asks the system for, or has got from it.
func (r *recorder) stop(tid int) error {
	var info [88]byte
	n, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, ptraceSyscallInfo, uintptr(tid), uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno == syscall.ESRCH {
		return nil // it has been killed meanwhile
	}
	if errno != 0 || n < 24 {
		return fmt.Errorf("powercut: what thread %d calls is not told: %w", tid, errno)
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(info[24+8*i:]) }
	switch info[0] {
	case infoEntry:
		c := call{nr: word(0), from: len(r.trace)}
		for i := range c.args {
			c.args[i] = word(1 + i)
		}
		err := r.enter(&c)
		r.calls[tid] = c
		return err
	case infoExit:
		c, ok := r.calls[tid]
		delete(r.calls, tid)
		if ok {
			r.leave(c, int64(word(0)))
		}
	}
	return nil
}

// enter notes what may have its effect from now on: writes and prints.
func (r *recorder) enter(c *call) error {
	fd := c.args[0]
	switch {
	case c.nr == syscall.SYS_OPENAT:
		name := make([]byte, maxString)
		n, err := r.mem.ReadAt(name, int64(c.args[1]))
		if n == 0 && err != nil {
			return fmt.Errorf("powercut: name of a file: %w", err)
		}
		c.file = n > len(r.path) && string(name[:len(r.path)]) == r.path && name[len(r.path)] == 0
	case c.nr == syscall.SYS_PWRITE64 && r.fds[fd]:
		data, err := r.read(c.args[1], c.args[2])
		if err != nil {
			return err
		}
		r.trace = append(r.trace, Op{Kind: Write, Off: int64(c.args[3]), Data: data})
	case c.nr == syscall.SYS_FTRUNCATE && r.fds[fd]:
		r.trace = append(r.trace, Op{Kind: Truncate, Off: int64(c.args[1])})
	case c.nr == syscall.SYS_WRITE && r.fds[fd], c.nr == syscall.SYS_WRITEV && r.fds[fd], c.nr == syscall.SYS_PWRITEV && r.fds[fd]:
		return fmt.Errorf("powercut: system call %d writes to the file in a way that is not recorded", c.nr)
	case c.nr == syscall.SYS_WRITE && fd == 1:
		data, err := r.read(c.args[1], c.args[2])
		if err != nil {
			return err
		}
		r.trace = append(r.trace, Op{Kind: Say, Data: data})
	}
	return nil
}

func (r *recorder) read(at, n uint64) ([]byte, error) {
	data := make([]byte, n)
	if _, err := r.mem.ReadAt(data, int64(at)); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("powercut: data of a write: %w", err)
	}
	return data, nil
}

// leave notes what has had its effect: opens and syncs that succeeded.
func (r *recorder) leave(c call, result int64) {
	fd := c.args[0]
	switch {
	case result < 0:
	case c.nr == syscall.SYS_OPENAT && c.file:
		r.fds[uint64(result)] = true
	case c.nr == syscall.SYS_CLOSE:
		delete(r.fds, fd)
	case (c.nr == syscall.SYS_FDATASYNC || c.nr == syscall.SYS_FSYNC) && r.fds[fd]:
		r.trace = append(r.trace, Op{Kind: Sync, Covers: c.from})
	}
}
