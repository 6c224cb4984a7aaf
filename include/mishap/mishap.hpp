/*
 * Mishap for C++20: a failure, a text and an answer that free themselves, results in the manner of
 * std::expected, and handlers that may throw.
 *
 *     static mishaps::result<void> lend(mishaps::call call)
 *     {
 *         mishaps::result<book> found = find_book(call.string("title"));
 *         if (!found)
 *             return found.failed();
 *         if (found->lent)
 *             return mishap_tell(mishap_raise(CONFLICT, "It is lent."), "until", found->until);
 *         return call.answer("lent", found->title);
 *     }
 *
 *     static const mishap_operation operations[] = {
 *         { .name = "books.lend", .summary = "Lend a book", .params = title_params,
 *           .run = mishaps::handler<lend>, .raises = MISHAP_RAISES(NOT_FOUND, CONFLICT) },
 *         {}
 *     };
 *
 * Everything of the C headers can be used beside it. Declarations are C's structs: C++ wants each
 * member named, in the order of the header, and a list ends with {}. A compiler that warns of
 * members which are not set (-Wextra) would do so for each declaration, so this header switches
 * that warning off for the file that includes it.
 *
 * What is `const` here may be used by several threads at once, nothing else. A call ends at once
 * when its handler asks for a parameter that is not declared (mishap/call.h): destructors do not
 * run then. What must be released even so belongs to mishap_call_defer().
 */
#ifndef MISHAP_MISHAP_HPP
#define MISHAP_MISHAP_HPP

#if __cplusplus < 202002L
#error "mishap/mishap.hpp is for C++20: compile with -std=c++20 or later."
#endif

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>

#include "mishap/dialect.h"
#include "mishap/invoke.h"
#include "mishap/main.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace mishaps
{

/* -- texts ------------------------------------------------------------------------------------- */

inline std::string_view view(mishap_text text) noexcept
{
    return text.data ? std::string_view(text.data, text.length) : std::string_view();
}

inline mishap_text text_of(std::string_view view) noexcept
{
    return { view.data(), view.size() };
}

/* A buffer that frees its memory: what the functions of C write into. */
class buffer
{
  public:
    buffer() noexcept = default;
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    buffer(buffer &&other) noexcept : held(std::exchange(other.held, {}))
    {
    }
    buffer &operator=(buffer &&other) noexcept
    {
        if (this != &other) {
            mishap_buffer_release(&held);
            held = std::exchange(other.held, {});
        }
        return *this;
    }
    ~buffer()
    {
        mishap_buffer_release(&held);
    }

    mishap_buffer *get() noexcept
    {
        return &held;
    }
    std::string_view text() const noexcept
    {
        return view(mishap_buffer_text(&held));
    }
    bool failed() const noexcept
    {
        return held.failed;
    } /* there was no memory for all of it */

  private:
    mishap_buffer held{};
};

/* -- failures ---------------------------------------------------------------------------------- */

/* The owner of a mishap; empty: success. */
class [[nodiscard]] failure
{
  public:
    failure() noexcept = default;
    failure(::mishap *m) noexcept : held(m)
    {
    } /* takes it */
    failure(const failure &) = delete;
    failure &operator=(const failure &) = delete;
    failure(failure &&other) noexcept : held(other.release())
    {
    }
    failure &operator=(failure &&other) noexcept
    {
        if (this != &other) {
            mishap_free(held);
            held = other.release();
        }
        return *this;
    }
    ~failure()
    {
        mishap_free(held);
    }

    explicit operator bool() const noexcept
    {
        return held;
    } /* something failed */
    const ::mishap *get() const noexcept
    {
        return held;
    }
    ::mishap *release() noexcept
    {
        return std::exchange(held, nullptr);
    }

    bool is(const mishap_code *code) const noexcept
    {
        return mishap_has_code(held, code);
    }
    const mishap_public &told() const noexcept
    {
        return *mishap_told(held);
    } /* not if empty */
    std::string_view message() const noexcept
    {
        return held ? view(mishap_public_message(mishap_told(held))) : std::string_view();
    }

    /* What callers may know, what operators may know, and the cause. */
    template <typename Value> failure &&tell(std::string_view key, const Value &value) &&
    {
        held = mishap_tell_value(held, text_of(key), mishap_value_from(value));
        return std::move(*this);
    }
    template <typename Value> failure &&note(std::string_view key, const Value &value) &&
    {
        held = mishap_note_value(held, text_of(key), mishap_value_from(value));
        return std::move(*this);
    }
    failure &&suggest(const char *suggestion) &&
    {
        held = mishap_suggest(held, suggestion);
        return std::move(*this);
    }
    failure &&because(failure cause) &&
    {
        held = mishap_because(held, cause.release());
        return std::move(*this);
    }

    /* The document of a dialect, such as "problem"; empty: there is no such dialect. */
    std::string render(const char *dialect) const
    {
        buffer out;
        const mishap_dialect *found = mishap_dialect_find(dialect);
        return found && held ? std::string(view(mishap_render(found, held, out.get())))
                             : std::string();
    }

  private:
    ::mishap *held = nullptr;
};

/* A failure on its way as an exception. A handler that lets it pass fails with what it holds. */
class thrown : public std::exception
{
  public:
    explicit thrown(failure held) : held(std::make_shared<failure>(std::move(held)))
    {
    }

    const char *what() const noexcept override
    {
        return *held ? mishap_public_message(mishap_told(held->get())).data : "";
    }
    const failure &failed() const noexcept
    {
        return *held;
    }
    failure take() const noexcept
    {
        return std::move(*held);
    } /* what() is "" afterwards */

  private:
    std::shared_ptr<failure> held; /* an exception must be copyable */
};

/* -- results ----------------------------------------------------------------------------------- */

/*
 * A value, or the failure that came instead, in the manner of std::expected. Both convert: `return
 * book;` and `return mishap_raise(NOT_FOUND, "There is no such book.");`
 */
template <typename T> class [[nodiscard]] result
{
  public:
    using value_type = T;

    template <typename U = T>
    requires(std::is_constructible_v<T, U> && !std::is_same_v<std::decay_t<U>, result> &&
             !std::is_same_v<std::decay_t<U>, failure> &&
             !std::is_same_v<std::decay_t<U>, ::mishap *>) result(U &&value)
        : held(std::in_place_index<0>, std::forward<U>(value))
    {
    }
    result(failure &&failed) noexcept : held(std::in_place_index<1>, std::move(failed))
    {
    }
    result(::mishap *failed) noexcept : held(std::in_place_index<1>, failed)
    {
    }

    bool has_value() const noexcept
    {
        return held.index() == 0;
    }
    explicit operator bool() const noexcept
    {
        return has_value();
    }

    /* The value; not if it failed. value() throws the failure then. */
    T &operator*() &noexcept
    {
        return *std::get_if<0>(&held);
    }
    const T &operator*() const &noexcept
    {
        return *std::get_if<0>(&held);
    }
    T &&operator*() &&noexcept
    {
        return std::move(*std::get_if<0>(&held));
    }
    T *operator->() noexcept
    {
        return std::get_if<0>(&held);
    }
    const T *operator->() const noexcept
    {
        return std::get_if<0>(&held);
    }
    T &value() &
    {
        require();
        return **this;
    }
    T &&value() &&
    {
        require();
        return std::move(**this);
    }
    template <typename U> T value_or(U &&other) &&
    {
        return has_value() ? std::move(**this) : static_cast<T>(std::forward<U>(other));
    }

    /* The failure, to look at or to return; not if there is a value. */
    const failure &error() const noexcept
    {
        return *std::get_if<1>(&held);
    }
    failure failed() noexcept
    {
        return std::move(*std::get_if<1>(&held));
    }

    /* function(value) if there is one: and_then() for a function that returns a result. */
    template <typename Function> auto and_then(Function &&function) &&
    {
        using next = std::invoke_result_t<Function, T &&>;
        return has_value() ? std::forward<Function>(function)(std::move(**this)) : next(failed());
    }
    template <typename Function> auto transform(Function &&function) &&
    {
        using next = result<std::decay_t<std::invoke_result_t<Function, T &&>>>;
        return has_value() ? next(std::forward<Function>(function)(std::move(**this)))
                           : next(failed());
    }

  private:
    void require()
    {
        if (!has_value())
            throw thrown(failed());
    }

    std::variant<T, failure> held;
};

/* Success, or a failure: what a handler returns. */
template <> class [[nodiscard]] result<void>
{
  public:
    using value_type = void;

    result() noexcept = default;
    result(failure &&failed) noexcept : held(std::move(failed))
    {
    }
    result(::mishap *failed) noexcept : held(failed)
    {
    } /* NULL: success */

    bool has_value() const noexcept
    {
        return !held;
    }
    explicit operator bool() const noexcept
    {
        return has_value();
    }
    const failure &error() const noexcept
    {
        return held;
    }
    failure failed() noexcept
    {
        return std::move(held);
    }
    void value()
    {
        if (held)
            throw thrown(failed());
    }
    template <typename Function> auto and_then(Function &&function) &&
    {
        using next = std::invoke_result_t<Function>;
        return has_value() ? std::forward<Function>(function)() : next(failed());
    }

  private:
    failure held;
};

/* -- calls ------------------------------------------------------------------------------------- */

/* The parameters of a call, or a part of them: an object, an item of an array. It owns nothing. */
class part
{
  public:
    explicit part(const mishap_call *held) noexcept : held(held)
    {
    }
    const mishap_call *get() const noexcept
    {
        return held;
    }

    bool given(const char *path) const
    {
        return mishap_given(held, path);
    }
    int64_t integer(const char *path) const
    {
        return mishap_integer(held, path);
    }
    double number(const char *path) const
    {
        return mishap_number(held, path);
    }
    bool boolean(const char *path) const
    {
        return mishap_boolean(held, path);
    }
    std::string_view string(const char *path) const /* NUL-terminated; empty: not given */
    {
        const char *data = mishap_string(held, path);
        return data ? std::string_view(data, mishap_string_length(held, path)) : std::string_view();
    }
    std::string_view json(const char *path) const
    {
        return mishap_json(held, path);
    }
    std::optional<std::string_view> key() const
    {
        const char *name = mishap_key(held);
        return name ? std::optional<std::string_view>(name) : std::nullopt;
    }
    part at(const char *path) const
    {
        return part(mishap_at(held, path));
    }
    std::size_t count(const char *path) const
    {
        return mishap_count(held, path);
    }

    /* for (mishaps::part line : call.each("lines")) … One loop at a time. */
    class items;
    items each(const char *path) const;

  private:
    const mishap_call *held;
};

class part::items
{
  public:
    class iterator
    {
      public:
        using value_type = part;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::input_iterator_tag;

        iterator() noexcept = default;
        explicit iterator(const mishap_call *item) noexcept : item(item)
        {
        }
        part operator*() const noexcept
        {
            return part(item);
        }
        iterator &operator++() noexcept
        {
            item = mishap_next(item);
            return *this;
        }
        void operator++(int) noexcept
        {
            ++*this;
        }
        bool operator==(std::default_sentinel_t) const noexcept
        {
            return !item;
        }

      private:
        const mishap_call *item = nullptr;
    };

    explicit items(const mishap_call *first) noexcept : first(first)
    {
    }
    iterator begin() const noexcept
    {
        return iterator(first);
    }
    std::default_sentinel_t end() const noexcept
    {
        return {};
    }

  private:
    const mishap_call *first;
};

inline part::items part::each(const char *path) const
{
    return items(mishap_first(held, path));
}

/* A call, as its handler gets it. It owns nothing, and may be copied. */
class call : public part
{
  public:
    explicit call(mishap_call *whole) noexcept : part(whole), whole(whole)
    {
    }
    mishap_call *get() const noexcept
    {
        return whole;
    }
    operator mishap_call *() const noexcept
    {
        return whole;
    } /* for all functions of C */

    /* A member or an item of the answer. They return success, as those of C do. */
    template <typename Value>::mishap *answer(std::string_view key, const Value &value) const
    {
        return mishap_answer_member_value(whole, text_of(key), mishap_value_from(value));
    }
    template <typename Value>::mishap *answer_item(const Value &value) const
    {
        return mishap_answer_item_value(whole, mishap_value_from(value));
    }

  private:
    mishap_call *whole;
};

/* -- handlers ---------------------------------------------------------------------------------- */

namespace inside
{

/* An exception of the program is a failure of the call, whose words only the operator may know. */
inline ::mishap *raise_exception(const std::exception *exception)
{
    const std::type_info *type = abi::__cxa_current_exception_type();
    int status = 0;
    std::unique_ptr<char, decltype(&std::free)> name(
        type ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr, &std::free);
    const char *called = name ? name.get() : type ? type->name() : "an exception without a type";
    ::mishap *m = exception ? mishap_raise(INTERNAL_ERROR, "%s: %s", called, exception->what())
                            : mishap_raise(INTERNAL_ERROR, "An exception was thrown: %s.", called);
    return mishap_note(m, "exception", called);
}

template <auto Function>::mishap *run(mishap_call *whole)
{
    using returned = std::invoke_result_t<decltype(Function), call>;
    if constexpr (std::is_void_v<returned>) {
        Function(call(whole));
        return nullptr;
    } else if constexpr (std::is_same_v<returned, result<void>>) {
        return Function(call(whole)).failed().release();
    } else if constexpr (std::is_same_v<returned, failure>) {
        return Function(call(whole)).release();
    } else {
        static_assert(
            std::is_same_v<returned, ::mishap *>,
            "A handler returns mishaps::result<void>, mishaps::failure, mishap * or void.");
        return Function(call(whole));
    }
}

} // namespace inside

/* A function in C++ as the handler of an operation: `.run = mishaps::handler<lend>`. It takes a
 * mishaps::call. No exception leaves it: mishaps::thrown is the failure that it holds; any other
 * is INTERNAL_ERROR, with its type and words for the operator. */
template <auto Function>::mishap *handler(mishap_call *whole)
{
    try {
        return inside::run<Function>(whole);
    } catch (const thrown &exception) {
        failure held = exception.take();
        return held ? held.release() : inside::raise_exception(nullptr);
    } catch (const std::bad_alloc &) {
        return mishap_out_of_memory();
    } catch (const std::exception &exception) {
        return inside::raise_exception(&exception);
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind &) { /* of pthread_exit(): it must go on */
        throw;
#endif
    } catch (...) {
        return inside::raise_exception(nullptr);
    }
}

/* -- calls from C++ ---------------------------------------------------------------------------- */

/* The answer of an operation, which frees itself. */
class answered
{
  public:
    explicit answered(mishap_answered *taken) noexcept : held(taken)
    {
    }
    const mishap_answered *operator->() const noexcept
    {
        return held.get();
    }
    part json() const noexcept
    {
        return part(held->json);
    } /* for its getters */
    std::string_view text() const noexcept
    {
        return view(held->text);
    }

  private:
    struct freed {
        void operator()(mishap_answered *taken) const noexcept
        {
            mishap_answered_free(taken);
        }
    };
    std::unique_ptr<mishap_answered, freed> held;
};

/* Run an operation of a program: mishap_invoke(), mishap_invoke_with(). */
inline result<answered> invoke(const mishap_app &app, const char *operation,
                               const char *arguments = nullptr,
                               const mishap_invocation *how = nullptr)
{
    mishap_answered *taken = nullptr;
    if (::mishap *failed = mishap_invoke(&app, operation, arguments, how, &taken))
        return failed;
    return answered(taken);
}

} // namespace mishaps

#endif
